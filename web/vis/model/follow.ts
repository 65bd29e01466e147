// Follows a call of a module: which of its parts runs, and which ops that part calls.

import { func, nn, noGrad, scope, Tensor } from "edgegrad";
import { refuse } from "../../errors/errors.js";

/** What learns of the parts of a call, in their order. Paths are the dotted names of modules, "" for the whole one. */
export interface Follower {
  /** A module begins. */
  enter?(path: string, module: nn.Module, inputs: readonly unknown[]): void;
  /** The module that began last, and has not ended, ends. */
  leave?(path: string, module: nn.Module, output: unknown): void;
  /**
   * An op that is not composed of others was called within the module with this path; `results` are what it returned, `start` is when it
   * began by performance.now().
   */
  op?(path: string, call: func.OpCall, results: readonly Tensor[], start: number): void;
}

/** Runs a function that calls a module or its parts, in the modes that hold, and tells a follower about it. */
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

/** Follows a call in evaluation mode and without gradients, which changes nothing of the module. What it computes is freed. */
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
