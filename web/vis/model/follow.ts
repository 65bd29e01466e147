// Follows a call of a module: which submodule runs, and which ops it calls.

import { func, nn, noGrad, scope, Tensor } from "edgegrad";
import { refuse } from "../../errors/errors.js";

/** Callbacks for the events of a call, in order. Paths are the dotted names of modules, "" for the root. */
export interface Follower {
  /** Called when the forward pass of a module begins. */
  enter?(path: string, module: nn.Module, inputs: readonly unknown[]): void;
  /** Called when the forward pass of the innermost running module ends. */
  leave?(path: string, module: nn.Module, output: unknown): void;
  /**
   * Called for each call of an op that is not composed of others, in the module with this path; `start` is the performance.now() of its
   * beginning.
   */
  op?(path: string, call: func.OpCall, results: readonly Tensor[], start: number): void;
}

/** Runs a function that calls a module or its submodules, in the current modes, and calls a follower. */
export function follow(module: nn.Module, run: () => unknown, follower: Follower): void {
  const path: string[] = [];
  const hooks = module.namedModules().flatMap(([name, part]) => [
    part.registerForwardPreHook((_, given) => {
      path.push(name);
      follower.enter?.(name, part, given);
    }),
    part.registerForwardHook((_, __, output) => {
      follower.leave?.(name, part, output);
      path.pop();
    }),
  ]);
  const handle = (call: func.OpCall) => {
    const start = performance.now();
    const result = call.run();
    if (!call.isComposite)
      follower.op?.(path.at(-1) ?? "", call, [result].flat() as readonly Tensor[], start);
    return result;
  };
  try {
    func.interceptOps(run, handle);
  } finally {
    for (const hook of hooks) hook.remove();
  }
}

/** Throws InvalidArgument unless the value is a module. */
export function checkModule(where: string, module: unknown): void {
  if (!(module instanceof nn.Module)) refuse(where, "module", "an nn.Module", module);
}

/** Follows a call in evaluation mode and without gradients; it does not change the module, and its results are freed. */
export function followEvaluation(
  module: nn.Module,
  inputs: readonly unknown[],
  follower: Follower,
): void {
  const modes = module.modules().map((part) => [part, part.training] as const);
  module.eval();
  try {
    scope(() =>
      noGrad(() => {
        follow(module, () => module.call(...(inputs as never[])), follower);
      }),
    );
  } finally {
    for (const [part, training] of modes) part.training = training;
  }
}

/** Returns the tensors in a value, its arrays and its plain objects. */
export function tensorsIn(value: unknown): Tensor[] {
  if (value instanceof Tensor) return [value];
  if (Array.isArray(value)) return value.flatMap(tensorsIn);
  if (typeof value !== "object" || value === null) return [];
  const isPlain = Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? Object.values(value).flatMap(tensorsIn) : [];
}
