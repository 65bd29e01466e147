// What an operator does with the runs of a server. The code is loaded when it is needed: programs that coordinate or train do without it.

import type { Credentials } from "../nats/connection.js";
import type { RunRecord } from "./record.js";

/** Where runs are. */
export interface RunsOptions {
  /** Addresses of NATS servers: nats:, tls:, ws: or wss:. */
  readonly servers: string | readonly string[];
  /** The credentials of a coordinator; default: none. */
  readonly credentials?: Credentials | undefined;
}

/** Where a run is. */
export interface RunOptions extends RunsOptions {
  /** The name of the run. */
  readonly run: string;
}

/** Options of `deleteRun`. */
export interface DeleteRunOptions extends RunOptions {
  /** Delete the run although a coordinator leads it, or has been killed without giving that up. Default false. */
  readonly force?: boolean | undefined;
}

/** Options of `rollBackRun`. */
export interface RollBackOptions extends DeleteRunOptions {
  /** The round after which the run is continued: one of `keptRounds`. */
  readonly round: number;
}

/** A run on a server. */
export interface RunStatus extends Pick<RunRecord, "state" | "round" | "rounds" | "strategy"> {
  /** The name of the run. */
  readonly run: string;
  /** Whether rounds do not begin ("paused"), or coordinators end after the round ("stopped"). */
  readonly control: "running" | "paused" | "stopped";
  /** The name of the coordinator that leads, or that was killed while it did; null if there is none. */
  readonly leader: string | null;
  /** The clients of the open round. */
  readonly clients: readonly string[];
  /** The rounds whose weights are kept, for `rollBackRun`. */
  readonly keptRounds: readonly number[];
  /** The bytes that the server stores for the run. */
  readonly bytes: number;
}

const load = () => import("./nats/administration.js");

/** Returns the runs of a server, sorted by name. Throws InvalidArgument for unknown options, and if no server can be reached. */
export async function listRuns(options: RunsOptions): Promise<RunStatus[]> {
  return (await load()).listRuns(options);
}

/** Deletes a run with everything that the server stores of it. Throws InvalidArgument if there is none, or if a coordinator leads it. */
export async function deleteRun(options: DeleteRunOptions): Promise<void> {
  await (await load()).deleteRun(options);
}

/** Begins no more rounds of a run; the open one goes on to its end. Throws InvalidArgument if there is no such run. */
export async function pauseRun(options: RunOptions): Promise<void> {
  await (await load()).controlRun("pauseRun", options, "paused");
}

/** Lets a run that was paused or stopped go on. One that was stopped needs a coordinator again. Throws InvalidArgument if there is no such run. */
export async function resumeRun(options: RunOptions): Promise<void> {
  await (await load()).controlRun("resumeRun", options, "running");
}

/** Ends all coordinators of a run after the open round. Throws InvalidArgument if there is no such run. */
export async function stopRun(options: RunOptions): Promise<void> {
  await (await load()).controlRun("stopRun", options, "stopped");
}

/**
 * Continues a run from the weights after an earlier round, of which serve({ keepRounds }) has kept some. Throws InvalidArgument if these are
 * not kept, or if a coordinator leads the run.
 */
export async function rollBackRun(options: RollBackOptions): Promise<void> {
  await (await load()).rollBackRun(options);
}
