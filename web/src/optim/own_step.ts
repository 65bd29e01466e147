// The step() of an optimizer that a program defines, which runs like those of this package: without recording.

import { noGrad } from "../autograd/grad_mode.js";
import { fail } from "../runtime/errors/errors.js";
import { isPromise } from "../runtime/host/promise.js";
import { callClosure } from "./closure.js";

/** A step(), which may have more parameters than the closure. */
export type AnyStep = (closure?: () => unknown) => unknown;

/**
 * Returns a step() that runs without recording, while a closure that it is given records. Throws InvalidArgument if the step is
 * async, because it would record from its first await on.
 */
export function quietStep(where: string, step: AnyStep): AnyStep {
  return function (this: unknown, ...given) {
    const [closure, ...rest] = given;
    const recording = () => callClosure(where, closure as () => unknown);
    const args: typeof given = typeof closure === "function" ? [recording, ...rest] : given;
    const [result] = noGrad(() => [step.apply(this, args)]);
    if (!isPromise(result)) return result;
    // Ignores the promise: an unhandled rejection must not end the process.
    result.then(undefined, () => undefined);
    const reason = "step() must be synchronous, but it returned a promise. Await before the call.";
    return fail("InvalidArgument", where, reason);
  };
}
