// Tensor.grad: the same gradient is the same object, as long as somebody holds that.

import { Rule } from "../arguments/rule.js";
import { callFrame, checkedFor, native } from "../runtime/bridge.js";
import { kIsLeaf, kRetainsGrad } from "../runtime/native.js";
import { handleOf, infoWord, kFlagsWord } from "../tensor/info.js";
import { Tensor } from "../tensor/tensor.js";

/** A gradient that was handed out: C++'s address of it, and the wrapper. */
export interface KnownGrad {
  readonly address: number;
  readonly wrapper: WeakRef<Tensor>;
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
  // An address means the same tensor while a handle of the known wrapper holds it.
  const existing = known?.address === address ? known.wrapper.deref() : undefined;
  if (existing !== undefined && !existing.disposed) {
    native.release(handle);
    return existing;
  }
  const gradient = new Tensor(handle);
  tensor.knownGrad = { address, wrapper: new WeakRef(gradient) };
  return gradient;
}

// Not undefined, which is left out nowhere.
const kGradient = new Rule<Tensor | null>("a tensor or null", (value) => {
  return value === null || value instanceof Tensor;
});

/** Gives a tensor a gradient, or takes it away. */
export function setGradOf(tensor: Tensor, value: Tensor | null): void {
  const gradient = kGradient.check("grad", "value", value);
  checkedFor("grad", native.setGrad(handleOf(tensor), gradient === null ? 0 : handleOf(gradient)));
  tensor.knownGrad =
    gradient === null ? null : { address: callFrame()[0] ?? 0, wrapper: new WeakRef(gradient) };
}

let hasWarned = false;

// Once: who reads the gradient of a result has most likely the wrong tensor.
function warnOfResult(tensor: Tensor): void {
  if (hasWarned || (infoWord(tensor, kFlagsWord) & (kIsLeaf | kRetainsGrad)) !== 0) return;
  hasWarned = true;
  console.warn(
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be " +
      "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf " +
      "Tensor, use .retainGrad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you " +
      "access the leaf Tensor instead.",
  );
}
