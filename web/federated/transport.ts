// How coordinators and clients communicate: through a NATS server, or in the memory of one page or process.

import { type ConnectionChoice, connectTo, readConnection } from "../nats/connection.js";
import { Link } from "./client/link.js";
import { MemoryLink } from "./memory/link.js";
import { MemoryNetwork } from "./memory/network.js";
import { MemoryStorage } from "./memory/storage.js";
import type { RunNames } from "./names.js";
import { NatsSignals } from "./nats/signals.js";
import { Storage, type StreamLimits } from "./nats/storage.js";

/** The storage of a coordinator. */
export type Store = Omit<Storage, "names">;

/** The signals between a coordinator and clients. */
export interface Signals {
  /** Calls a function with the name of a client and its message. */
  onHere(heard: (client: string, said: string) => void): void;
  /** Asks clients to announce themselves. */
  ask(): void;
  /** Ends the signals and closes the connection. */
  close(): Promise<void>;
}

/** The connection of a client. */
export type ClientLink = Omit<Link, "connection">;

/** Where the run is. */
export type Place = ConnectionChoice | MemoryNetwork;

/** Checks the options `servers` and `credentials`. */
export function readPlace(where: string, servers: unknown, credentials: unknown): Place {
  return servers instanceof MemoryNetwork ? servers : readConnection(where, servers, credentials);
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
    return { storage: new MemoryStorage(run, limits), signals: run.signals() };
  }
  const connection = await connectTo(where, place, id);
  try {
    const storage = await Storage.open(where, connection, names, limits);
    return { storage, signals: new NatsSignals(connection, names) };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Opens the connection of a client. */
export async function openLink(
  where: string,
  place: Place,
  names: RunNames,
  name: string,
): Promise<ClientLink> {
  if (place instanceof MemoryNetwork) return new MemoryLink(place.runOf(names.run), names, name);
  const connection = await connectTo(where, place, name);
  try {
    return await Link.open(connection, names, name);
  } catch (error) {
    await connection.close();
    throw error;
  }
}
