// How coordinators and clients communicate: through a NATS server, or in the memory of one page or process.

import {
  type ConnectionChoice,
  type Credentials,
  connectTo,
  readConnection,
} from "../nats/connection.js";
import { loadClientPackages } from "../nats/packages.js";
import type { Sheet } from "./asks.js";
import { MemoryNetwork } from "./memory/network.js";
import { MemoryStorage } from "./memory/storage.js";
import { MemoryWire } from "./memory/wire.js";
import type { RunNames } from "./names.js";
import { NatsSignals } from "./nats/signals.js";
import { Storage, type StreamLimits } from "./nats/storage.js";
import { NatsWire } from "./nats/wire.js";

/** The storage of a coordinator. */
export type Store = Omit<Storage, "names">;

/** The signals between a coordinator and clients. */
export interface Signals {
  /** The maximum size of a message in bytes. */
  readonly maxPayload: number;
  /** Calls a function with the name of a client and its message. */
  onHere(heard: (client: string, text: string) => void): void;
  /** Asks clients to announce themselves. */
  ask(): void;
  /** Answers requests of clients until the returned function is called. */
  answer(make: (client: string, sheet: Sheet) => Promise<Sheet | null>): () => void;
  /** Whether a process of a client is there; false also if it is not known, and then a process that is there announces itself. */
  isThere(client: string, session: string): Promise<boolean>;
  /** Sends the record to all clients that listen. */
  announce(sheet: Sheet): void;
  /** Calls a function when the connection is lost; it is made again by itself. */
  onLost(lost: () => void): void;
  /** Ends the signals and closes the connection. */
  close(): Promise<void>;
}

/** The connection of a client. */
export type Wire = Pick<
  NatsWire,
  | "maxPayload"
  | "onProbe"
  | "ask"
  | "onRecord"
  | "onWho"
  | "onForbidden"
  | "onBack"
  | "say"
  | "close"
>;

/** Where the run is. */
export type Place = ConnectionChoice | MemoryNetwork;

/** Checks the options `servers` and `credentials`. */
export function readPlace(where: string, servers: unknown, credentials: unknown): Place {
  return servers instanceof MemoryNetwork ? servers : readConnection(where, servers, credentials);
}

/** The credentials with which a place is reached. */
export function credentialsOf(place: Place): Credentials {
  return place instanceof MemoryNetwork ? {} : place.credentials;
}

/** Opens the storage and signals of a coordinator. */
export async function openStore(
  where: string,
  place: Place,
  names: RunNames,
  id: string,
  limits: StreamLimits,
): Promise<{ storage: Store; signals: Signals }> {
  if (place instanceof MemoryNetwork) {
    const run = place.runOf(names.run);
    return { storage: new MemoryStorage(run, names, limits), signals: run.signals() };
  }
  const { core } = await loadClientPackages(where);
  const connection = await connectTo(where, place, id);
  try {
    const storage = await Storage.open(where, connection, names, limits);
    return { storage, signals: new NatsSignals(connection, names, core.headers) };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Opens the connection of a client. */
export async function openWire(
  where: string,
  place: Place,
  names: RunNames,
  name: string,
): Promise<Wire> {
  if (place instanceof MemoryNetwork) return new MemoryWire(place.runOf(names.run), name);
  const { core } = await loadClientPackages(where);
  const connection = await connectTo(where, place, name);
  return new NatsWire(connection, names, name, core.headers);
}
