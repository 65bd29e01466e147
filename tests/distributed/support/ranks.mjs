// Groups of processes.

import { Program } from "../../federated/support/program.mjs";

const kNever = 600_000; // ms

let runs = 0;
/** The options of a group that no other test uses. Nothing is late in it, and nobody lost, unless `more` says so. */
export function newGroup(servers, worldSize, more = {}) {
  return { servers, worldSize, run: `run${runs++}`, lostAfter: kNever, timeout: kNever, ...more };
}

/** Starts one process. */
export function startRank(scenario, group, more = {}) {
  const argument = { scenario, group, ...more };
  const program = new Program(new URL("rank_program.mjs", import.meta.url), argument);
  const ended = () =>
    program.result(({ result, error }) => result !== undefined || error !== undefined);
  return {
    /** Resolves to its last line { result } or { error }, or to null if it was killed. */
    ended,
    /** Resolves to its result; rejects with its error. */
    async result() {
      const { result, error } = await ended();
      if (error !== undefined) throw new Error(error.message);
      return result;
    },
    signal: (name) => program.signal(name),
    /** Resolves when the process has told of an event. */
    told: (name) => program.told(`event "${name}" of a rank`, ({ event }) => event === name),
    /** Lets go on what waits in mayGoOn(). */
    letGoOn: () => program.tell("go on"),
    kill: () => program.kill(),
  };
}

/** Starts all processes of a group. */
export function startRanks(scenario, group, more = {}) {
  return Array.from({ length: group.worldSize }, (_, rank) =>
    startRank(scenario, { ...group, rank }, more),
  );
}

/** Runs a scenario in all processes of a group; resolves to their results by rank. */
export async function runGroup(scenario, group, more = {}) {
  const ranks = startRanks(scenario, group, more);
  await Promise.all(ranks.map((rank) => rank.ended()));
  return Promise.all(ranks.map((rank) => rank.result()));
}
