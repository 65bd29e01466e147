// Memory over time, by its use.

import { memory, type nn, type optim, scope, type Tensor } from "edgegrad";
import { refuse } from "../../errors/errors.js";
import { Recorder } from "../log/recorder.js";
import { checkModule, tensorsIn } from "./follow.js";

/** The bytes of tensor data on all devices, by their use. */
export interface MemoryByKind {
  /** The bytes of parameters. */
  readonly parameters: number;
  /** The bytes of the parameters' gradients. */
  readonly gradients: number;
  /** The bytes of buffers. */
  readonly buffers: number;
  /** The bytes of the optimizer's state. */
  readonly optimizer: number;
  /** All other bytes: inputs, results, and tensors saved for backward. */
  readonly other: number;
}

/** Returns the present bytes of tensor data by their use. Without a module and an optimizer, everything is `other`. */
export function memoryByKind(module?: nn.Module, optimizer?: optim.Optimizer): MemoryByKind {
  if (module !== undefined) checkModule("memoryByKind", module);
  if (optimizer !== undefined && typeof optimizer?.stateDict !== "function")
    refuse("memoryByKind", "optimizer", "an optimizer", optimizer);
  const owned = module?.parameters() ?? [];
  const parameters = bytesOf(owned);
  const gradients = bytesOf(owned.flatMap(({ grad }) => grad ?? []));
  const buffers = bytesOf(module?.buffers() ?? []);
  const state = optimizer === undefined ? 0 : stateBytesOf(optimizer);
  const { cpuBytes, gpuBytes } = memory();
  const other = Math.max(0, cpuBytes + gpuBytes - parameters - gradients - buffers - state);
  return { parameters, gradients, buffers, optimizer: state, other };
}

/** Adds `memory/parameters`, `memory/gradients` and the other kinds of `memoryByKind` to a run of a log, or a writer. */
export function recordMemory(
  recorder: Recorder,
  step: number,
  module?: nn.Module,
  optimizer?: optim.Optimizer,
): void {
  if (!(recorder instanceof Recorder))
    refuse("recordMemory", "recorder", "a run of a log or a writer", recorder);
  recorder.addScalars("memory", { ...memoryByKind(module, optimizer) }, step);
}

// Step counts are numbers, but stateDict() converts them to tensors.
function stateBytesOf(optimizer: optim.Optimizer): number {
  return scope(() => bytesOf(tensorsIn(optimizer.stateDict()).filter(({ ndim }) => ndim > 0)));
}

function bytesOf(tensors: readonly Tensor[]): number {
  return tensors.reduce((sum, tensor) => sum + tensor.numel * tensor.elementSize(), 0);
}
