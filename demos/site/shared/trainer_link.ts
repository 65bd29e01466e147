// Training runs in a worker of the page, so that the page stays responsive, with or without threads. The worker exposes one
// object (a "trainer") through comlink. The page calls its methods as if it were a local object, and they return promises;
// functions are passed with `proxy`.

import { proxy, type Remote, transfer, wrap } from "comlink";
import { showError } from "./frame.js";

export { proxy, type Remote, transfer };

/** A connection to a trainer in its worker. */
export interface TrainerLink<Trainer> {
  readonly trainer: Remote<Trainer>;
  /** Terminates the worker, whatever it is doing. */
  stop(): void;
}

/**
 * Connects to the trainer that a worker exposes. The page creates the worker itself, because bundlers only recognize the literal
 * form `new Worker(new URL("./trainer.ts", import.meta.url), { type: "module" })`.
 */
export function linkTrainer<Trainer>(worker: Worker): TrainerLink<Trainer> {
  worker.addEventListener("error", (event) =>
    showError(event.message || "The training worker could not be started."),
  );
  return { trainer: wrap<Trainer>(worker), stop: () => worker.terminate() };
}
