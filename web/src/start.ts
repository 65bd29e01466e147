// Every program calls one of these functions on each thread before it has a tensor. They attach the methods of tensors, whose use
// a bundler cannot detect, and connect a thread of spawn() whose module is a bundle to its engine.

import type { InitOptions } from "./engine/init_options.js";
import { startEngine } from "./engine/lifecycle.js";
import { markPackageEnd } from "./runtime/errors/own_frames.js";
import { attachTensorMethods } from "./tensor_methods.js";
import { exposeFunctions } from "./threads/expose.js";
import { joinHost, type WorkerFunction } from "./threads/host.js";

/**
 * Starts the engine, which every other function needs. Later calls wait for the same start; its options
 * stay in force until shutdown(), and a call with different options is rejected. Every call opens the
 * WebGPU device if it requires one, or if the device has been lost. A call after shutdown() waits until
 * the engine has stopped and starts a new one.
 */
export async function init(...given: [options?: InitOptions]): Promise<void> {
  joinHost();
  await startEngine(given, attachTensorMethods);
  attachTensorMethods();
}

/**
 * Registers functions that `spawn(worker, name, ...)` may call; used in the script of a worker. Call it while the script loads,
 * before the first await. In such a worker, init() waits for the engine of the thread that calls spawn().
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

markPackageEnd();
