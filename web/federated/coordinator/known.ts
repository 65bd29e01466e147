// The clients that a coordinator knows by their public keys, and the check of their signatures.

import { kSessionHeader, kSignatureHeader } from "../asks.js";
import { kPhaseHeader } from "../secure/phases.js";
import { type ClientKeys, loadCheck, textOfUpdate } from "../signatures.js";
import type { Verify } from "../update/assembly.js";
import { kDigestHeader, kRoundHeader } from "../update/encode.js";

/** Who may take part. */
export interface Known {
  /** Whether a client may take part. */
  isKnown(client: string): Promise<boolean>;
  /** Whether a message is signed by its client. */
  readonly verify: Verify;
}

/** Without keys, the server's permissions alone say who a client is. */
const kAnybody: Known = { isKnown: async () => true, verify: async () => true };

/** Returns who may take part in a run. */
export async function knownClients(
  where: string,
  run: string,
  clients: ClientKeys | undefined,
): Promise<Known> {
  if (clients === undefined) return kAnybody;
  const check = await loadCheck(where);
  const found = new Map<string, string>();
  const checked = new Map<string, string>();
  const keyOf = async (client: string): Promise<string | null> => {
    if (typeof clients !== "function") {
      return Object.hasOwn(clients, client) ? (clients[client] ?? null) : null;
    }
    const key = found.get(client) ?? (await clients(client));
    if (key !== null) found.set(client, key);
    return key;
  };
  return {
    isKnown: async (client) => (await keyOf(client)) !== null,
    async verify(client, header) {
      const key = await keyOf(client);
      if (key === null) return false;
      const text = textOfUpdate({
        run,
        round: header(kRoundHeader),
        phase: header(kPhaseHeader),
        session: header(kSessionHeader),
        client,
        digest: header(kDigestHeader),
      });
      const signature = header(kSignatureHeader);
      // All parts of a file have one signature.
      const isSame = checked.get(client) === `${signature} ${text}`;
      if (!isSame && !check(key, text, signature)) return false;
      checked.set(client, `${signature} ${text}`);
      return true;
    },
  };
}
