// Tells the operator that an open round waits for clients that are silent.

import { sleep } from "../../nats/waiting.js";
import type { Host } from "./collected.js";

const kCheckMs = 500;
const kMostNames = 5;

/** Reports, until the signal is aborted, the clients that a round waits for and that are silent: each once. */
export async function watchSilence(
  { presence, reporter }: Pick<Host, "presence" | "reporter">,
  missing: () => readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const told = new Set<string>();
  for (;;) {
    await sleep(kCheckMs, signal);
    if (signal.aborted) return;
    const waited = missing();
    const silent = presence.silent(waited).filter((client) => !told.has(client));
    if (silent.length === 0) continue;
    for (const client of silent) told.add(client);
    const more = silent.length - kMostNames;
    const names = silent.slice(0, kMostNames).join(", ") + (more > 0 ? ` and ${more} more` : "");
    reporter.tell(
      "stalled",
      `the round waits for ${waited.length} updates; nothing is heard of ${names}.`,
    );
  }
}
