import { enableGrad } from "../autograd/grad_mode.js";
import { fail } from "../runtime/errors/errors.js";
import { isPromise } from "../runtime/host/promise.js";

/** Calls the closure of a step with gradients enabled; throws InvalidArgument if it is async. */
export function callClosure<T>(where: string, closure: () => T): T {
  const [result] = enableGrad(() => [closure()]) as [T];
  if (!isPromise(result)) return result;
  // Ignores the promise: an unhandled rejection must not end the process.
  result.then(undefined, () => undefined);
  const reason =
    "closure: expected a synchronous function, but it returned a promise. Await before step().";
  return fail("InvalidArgument", where, reason);
}
