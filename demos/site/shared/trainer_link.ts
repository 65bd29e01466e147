// Training runs in a worker of the page, so that the page draws and answers meanwhile, with threads or without. The
// worker exposes one object (a "trainer") by comlink: its methods are called from here as if it were here, and return
// promises; functions go over with `proxy`.

import { proxy, type Remote, wrap } from "comlink";
import { showError } from "./frame.js";

export { proxy, type Remote };

/** A trainer in its worker. */
export interface TrainerLink<Trainer> {
  readonly trainer: Remote<Trainer>;
  /** Ends the worker, whatever it is doing. */
  stop(): void;
}

/**
 * Reaches the trainer that a worker exposes. The page makes the worker itself, because bundlers only see
 * `new Worker(new URL("./trainer.ts", import.meta.url), { type: "module" })` written out.
 */
export function linkTrainer<Trainer>(worker: Worker): TrainerLink<Trainer> {
  worker.addEventListener("error", (event) =>
    showError(event.message || "The training worker could not be started."),
  );
  return { trainer: wrap<Trainer>(worker), stop: () => worker.terminate() };
}
