// The functions of which every program calls one before it has a tensor, on each thread. With them come the methods of tensors,
// of which no bundler could know that they are used; and a thread of spawn() whose module is a bundle finds its engine.

import type { InitOptions } from "./engine/init_options.js";
import { startEngine } from "./engine/lifecycle.js";
import { endOwnCode } from "./runtime/own_frames.js";
import { attachTensorMethods } from "./tensor_methods.js";
import { exposeFunctions } from "./threads/expose.js";
import { joinHost, type WorkerFunction } from "./threads/host.js";

/**
 * Starts the engine; every other function needs it. Calls after the first wait for the same start,
 * whose options stay in force until shutdown(): other ones are refused. Each opens the WebGPU device
 * if it requires it, or if that has been lost. A call after shutdown() waits for its end and starts
 * another engine.
 */
export async function init(...given: [options?: InitOptions]): Promise<void> {
  joinHost();
  await startEngine(given, attachTensorMethods);
  attachTensorMethods();
}

/**
 * In the script of a worker: makes functions known that `spawn(worker, name, ...)` may call. Call it once the script is
 * loaded, before anything is awaited; init() waits there for the engine of the thread that calls spawn().
 *
 *     eg.expose({ train });
 */
export function expose(exposed: Readonly<Record<string, WorkerFunction>>): void {
  joinThread();
  exposeFunctions(exposed);
}

function joinThread(): void {
  attachTensorMethods();
  joinHost();
}

endOwnCode();
