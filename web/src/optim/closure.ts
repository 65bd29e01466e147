import { enableGrad } from "../autograd/grad_mode.js";
import { fail } from "../runtime/errors.js";
import { isPromise } from "../tensor/scope.js";

/** Calls a closure that a step was given, recording; throws InvalidArgument for one that is async. */
export function callClosure<T>(where: string, closure: () => T): T {
  const [result] = enableGrad(() => [closure()]) as [T];
  if (!isPromise(result)) return result;
  // What happens to the promise now is of no interest; its failure must not end the process.
  result.then(undefined, () => undefined);
  const told = "closure: it returned a promise, but a step does not wait. Await before step().";
  return fail("InvalidArgument", where, told);
}
