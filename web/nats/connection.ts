// Connections to NATS: over WebSocket for ws: and wss: addresses, otherwise over TCP, which needs Node.

import type { ConnectionOptions, NatsConnection } from "@nats-io/nats-core";
import { fail, refuse } from "../errors/errors.js";
import { isPlain, readOptions } from "./options.js";
import { loadClientPackages, loadNodeTransport } from "./packages.js";

/** How to log in: a user and password, a token, the seed of an nkey, or the text of a .creds file (a JWT and its seed). */
export interface Credentials {
  /** The name of a user. */
  readonly user?: string | undefined;
  /** The password of `user`. */
  readonly password?: string | undefined;
  /** The token that the server expects. */
  readonly token?: string | undefined;
  /** The seed of an nkey, "SU...". */
  readonly nkeySeed?: string | undefined;
  /** The text of a .creds file. */
  readonly creds?: string | undefined;
  /** Paths of certificate files, as in NATS's option `tls`; only in Node. */
  readonly tls?:
    | {
        /** The certificates of authorities to trust. */
        readonly caFile?: string;
        /** The client's own certificate. */
        readonly certFile?: string;
        /** The key of that certificate. */
        readonly keyFile?: string;
      }
    | undefined;
}

const kCredentials = ["user", "password", "token", "nkeySeed", "creds", "tls"];
const kReconnectMs = 250;

/** The servers and the credentials of a connection. */
export interface ConnectionChoice {
  readonly servers: readonly string[];
  readonly credentials: Credentials;
}

/** Checks the options `servers` and `credentials`. */
export function readConnection(
  where: string,
  servers: unknown,
  credentials: unknown,
): ConnectionChoice {
  const list = typeof servers === "string" ? [servers] : servers;
  const isList = Array.isArray(list) && list.length > 0;
  if (!isList || !list.every((item) => typeof item === "string" && item !== "")) {
    refuse(
      where,
      "servers",
      'an address such as "nats://127.0.0.1:4222" or a list of addresses',
      servers,
    );
  }
  const webSockets = list.filter(isWebSocket).length;
  if (webSockets !== 0 && webSockets !== list.length) {
    refuse(where, "servers", "either only addresses with ws: or wss:, or none", servers);
  }
  const given = readOptions(where, kCredentials, credentials ?? {});
  for (const name of kCredentials.filter((credential) => credential !== "tls")) {
    if (given[name] !== undefined && typeof given[name] !== "string") {
      refuse(where, `credentials.${name}`, "a text", typeof given[name]);
    }
  }
  if (given.tls !== undefined && !isPlain(given.tls))
    refuse(where, "credentials.tls", "an object", given.tls);
  return { servers: list as string[], credentials: given as Credentials };
}

const isWebSocket = (address: string) => /^wss?:/.test(address);

/** Connects, and reconnects without a time limit; throws InvalidArgument if no server can be reached at first. */
export async function connectTo(
  where: string,
  { servers, credentials }: ConnectionChoice,
  name: string,
  inboxPrefix = `_INBOX_${name}`,
): Promise<NatsConnection> {
  const { core } = await loadClientPackages(where);
  const { user, password, token, nkeySeed, creds, tls } = credentials;
  const encoder = new TextEncoder();
  const options: ConnectionOptions = {
    servers: [...servers],
    name: `edgegrad ${name}`,
    // Replies go to subjects with this prefix, which permissions can hide from other clients.
    inboxPrefix,
    maxReconnectAttempts: -1,
    reconnectTimeWait: kReconnectMs,
    reconnectJitter: kReconnectMs,
    ignoreAuthErrorAbort: true,
    pingInterval: 10_000,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { pass: password }),
    ...(token === undefined ? {} : { token }),
    ...(tls === undefined ? {} : { tls }),
  };
  try {
    if (nkeySeed !== undefined)
      options.authenticator = core.nkeyAuthenticator(encoder.encode(nkeySeed));
    if (creds !== undefined) options.authenticator = core.credsAuthenticator(encoder.encode(creds));
    if (servers.some(isWebSocket)) return await core.wsconnect(options);
    const { connect } = await loadNodeTransport(where);
    return await connect(options);
  } catch (error) {
    return fail(
      "InvalidArgument",
      where,
      `cannot connect to ${servers.join(", ")}: ${messageOf(error)}.`,
    );
  }
}

function messageOf(error: unknown): string {
  // Browsers give no message for a WebSocket that cannot be opened.
  return error instanceof Error ? error.message || "there is no answer" : String(error);
}
