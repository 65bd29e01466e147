// The options of initProcessGroup().

import { fail, refuse } from "../../errors/errors.js";
import { type ConnectionChoice, type Credentials, readConnection } from "../../nats/connection.js";
import { nameFrom } from "../../nats/names.js";
import { integerFrom, readOptions } from "../../nats/options.js";

const kMostRanks = 1024;
const kMostMs = 2 ** 31 - 1;

/** Options of `initProcessGroup`. */
export interface ProcessGroupOptions {
  /** Addresses of NATS servers with JetStream: nats:, tls:, ws: or wss:. */
  readonly servers: string | readonly string[];
  /** The credentials of the process; default: none. */
  readonly credentials?: Credentials | undefined;
  /** The number of processes of the group; with `minWorldSize`, the maximum number. */
  readonly worldSize: number;
  /**
   * The minimum number of processes with which the group begins, or continues after `rejoin`; default `worldSize`. A process that joins later
   * ends the group, so that it is formed again with that process.
   */
  readonly minWorldSize?: number | undefined;
  /** The time to wait for more processes after `minWorldSize` have joined, in milliseconds; default 5,000. */
  readonly lastCall?: number | undefined;
  /** The rank of this process, from 0 to `worldSize` - 1; default: any free rank. */
  readonly rank?: number | undefined;
  /** The name of the run: letters, digits, hyphens and underscores; default "main". Processes with the same name form a group. */
  readonly run?: string | undefined;
  /** The time that an operation waits for the other ranks, in milliseconds; default 60,000. */
  readonly timeout?: number | undefined;
  /** The time to wait for all processes to join, in milliseconds; default 300,000. */
  readonly joinTimeout?: number | undefined;
  /** The milliseconds without a sign of life after which a rank is considered lost; default 10,000. */
  readonly lostAfter?: number | undefined;
}

/** The options with defaults. */
export interface ReadProcessGroupOptions {
  readonly connection: ConnectionChoice;
  readonly worldSize: number;
  readonly minWorldSize: number;
  readonly lastCall: number;
  readonly rank: number | null;
  readonly run: string;
  readonly timeout: number;
  readonly joinTimeout: number;
  readonly lostAfter: number;
}

const kKnown = [
  "servers",
  "credentials",
  "worldSize",
  "minWorldSize",
  "lastCall",
  "rank",
  "run",
  "timeout",
  "joinTimeout",
  "lostAfter",
];

/** Checks the options of a call. */
export function readProcessGroupOptions(where: string, options: unknown): ReadProcessGroupOptions {
  const given = readOptions(where, kKnown, options);
  const range = { least: 1, most: kMostRanks };
  const worldSize = integerFrom(where, "worldSize", given.worldSize, range);
  const fewest = { least: 1, most: worldSize };
  const minWorldSize = given.minWorldSize ?? worldSize;
  integerFrom(where, "minWorldSize", minWorldSize, fewest);
  const rank = given.rank ?? null;
  if (rank !== null) integerFrom(where, "rank", rank, { least: 0, below: worldSize });
  const time = (name: string, usual: number) =>
    integerFrom(where, name, given[name] ?? usual, { least: 100, most: kMostMs });
  if (rank !== null && minWorldSize !== worldSize) {
    fail(
      "InvalidArgument",
      where,
      "rank: cannot be chosen where minWorldSize is less than worldSize.",
    );
  }
  if (given.rank === null) refuse(where, "rank", "a whole number or undefined", null);
  return {
    connection: readConnection(where, given.servers, given.credentials),
    worldSize,
    minWorldSize: minWorldSize as number,
    lastCall: time("lastCall", 5000),
    rank: rank as number | null,
    run: nameFrom(where, "run", given.run ?? "main"),
    timeout: time("timeout", 60_000),
    joinTimeout: time("joinTimeout", 300_000),
    lostAfter: time("lostAfter", 10_000),
  };
}
