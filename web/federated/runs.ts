// What an operator does with the runs of a server. The code is loaded when it is needed: programs that coordinate or train do without it.

import type {
  DeleteRunOptions,
  RollBackOptions,
  RollOutOptions,
  RunOptions,
  RunStatus,
  RunsOptions,
} from "./run_status.js";

const load = () => import("./nats/administration.js");
const loadRollouts = () => import("./nats/rollouts.js");

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
 * Continues a run from the weights after an earlier round, if serve({ keepRounds }) has kept them. Throws InvalidArgument if these are
 * not kept, or if a coordinator leads the run.
 */
export async function rollBackRun(options: RollBackOptions): Promise<void> {
  await (await load()).rollBackRun(options);
}

/**
 * Has a share of the clients train another revision of a run, with weights and `config` of its own, from the next round on. Called again
 * with the same name, it changes the share. Throws InvalidArgument if another revision is being rolled out, or if the run can have one only.
 */
export async function rollOutRun(options: RollOutOptions): Promise<void> {
  await (await loadRollouts()).rollOutRun(options);
}

/** Has all clients train the run's own revision again, from the next round on. Throws InvalidArgument if none is being rolled out. */
export async function withdrawRollout(options: RunOptions): Promise<void> {
  await (await loadRollouts()).withdrawRollout(options);
}
