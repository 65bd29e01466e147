// Coordinators and clients in processes of their own.

import { Program } from "./program.mjs";

/** Starts a coordinator; `heard` is called with each line that it writes. */
export function startCoordinator(options, heard) {
  const program = new Program(new URL("coordinator_program.mjs", import.meta.url), options, heard);
  return {
    isReady: () => program.told("coordinator that is ready", ({ ready }) => ready),
    /** Resolves when it has ended a round with at least this number. */
    hasEnded: (least) => program.told(`end of round ${least}`, ({ round }) => round >= least),
    /** Resolves to its last line { history, weights }, or to null if it was killed. */
    result: () => program.result(({ history }) => history !== undefined),
    signal: (name) => program.signal(name),
    kill: () => program.kill(),
  };
}

/** Starts a client. */
export function startClient(options) {
  const program = new Program(new URL("client_program.mjs", import.meta.url), options);
  return {
    isReady: () => program.told("client that has joined", ({ joined }) => joined),
    ended: () => program.result(({ joined }) => joined),
    signal: (name) => program.signal(name),
    kill: () => program.kill(),
  };
}
