// Refuses changes of tensors that a differentiated function takes from outside instead of by its arguments: the derivative would
// not know of them, and each further call of the transform would repeat them.

import { fail } from "../runtime/errors/errors.js";
import { Tensor } from "../tensor/tensor.js";
import { checkingWrites } from "../tensor/writes.js";
import { physicalOf } from "./batched.js";
import { leavesOf } from "./pytree.js";

/** Runs a function that `where` differentiates; it may change its arguments `given` and tensors that were made after `start`. */
export function keepingCaptured<T>(
  where: string,
  given: readonly unknown[],
  start: number,
  fn: () => T,
): T {
  return checkingWrites((op, target) => {
    const owner = ownerOf(target);
    if (owner.serial > start) return;
    const isGiven = (leaf: unknown) =>
      leaf instanceof Tensor && ownerOf(physicalOf(leaf)) === owner;
    if (leavesOf(given).some(isGiven)) return;
    fail(
      "InvalidArgument",
      op,
      `the function that eg.func.${where}() differentiates cannot change a tensor that is not among its arguments. ` +
        "Pass it as an argument, with eg.func.functionalCall() also the buffers of a module; or change its clone().",
    );
  }, fn);
}

// A view changes its base.
function ownerOf(tensor: Tensor): Tensor {
  return (tensor.isView ? tensor.base : null) ?? tensor;
}
