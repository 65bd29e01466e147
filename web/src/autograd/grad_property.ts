// Tensor.grad: returns the same object for the same gradient, as long as that object is alive.

import { Rule } from "../arguments/rule.js";
import { kFlagsWord, kIsLeaf, kRetainsGrad } from "../generated/border.js";
import { callFrame, checkedFor, native } from "../runtime/bridge.js";
import { type Reference, weakly } from "../runtime/weak.js";
import { handleOf, infoWord } from "../tensor/info.js";
import { Tensor } from "../tensor/tensor.js";

/** The gradient that was returned last: its address in C++, and the wrapper. */
export interface KnownGrad {
  readonly address: number;
  readonly wrapper: Reference<Tensor>;
}

/** Returns the gradient of a tensor, or null. */
export function gradOf(tensor: Tensor): Tensor | null {
  const handle = checkedFor("grad", native.grad(handleOf(tensor)));
  if (handle === 0) {
    warnOfResult(tensor);
    return null;
  }
  const address = callFrame()[0] ?? 0;
  const known = tensor.knownGrad;
  // While the handle of the known wrapper holds the tensor, no other tensor can have the same address.
  const existing = known?.address === address ? known.wrapper.deref() : undefined;
  if (existing !== undefined && !existing.disposed) {
    native.release(handle);
    return existing;
  }
  const gradient = new Tensor(handle);
  tensor.knownGrad = { address, wrapper: weakly(gradient) };
  return gradient;
}

// undefined is rejected.
const kGradient = new Rule<Tensor | null>("a tensor or null", (value) => {
  return value === null || value instanceof Tensor;
});

/** Sets the gradient of a tensor; null removes it. */
export function setGradOf(tensor: Tensor, value: Tensor | null): void {
  const gradient = kGradient.check("grad", "value", value);
  checkedFor("grad", native.setGrad(handleOf(tensor), gradient === null ? 0 : handleOf(gradient)));
  tensor.knownGrad =
    gradient === null ? null : { address: callFrame()[0] ?? 0, wrapper: weakly(gradient) };
}

let hasWarned = false;

// Warns once: code that reads the gradient of a result most likely meant another tensor.
function warnOfResult(tensor: Tensor): void {
  if (hasWarned || (infoWord(tensor, kFlagsWord) & (kIsLeaf | kRetainsGrad)) !== 0) return;
  hasWarned = true;
  console.warn(
    "edgegrad: grad was read from a tensor that is not a leaf, and backward() does not store gradients there. Call " +
      "x.retainGrad() before backward(), or read grad from a leaf.",
  );
}
