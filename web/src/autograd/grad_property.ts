// Tensor.grad: the gradient of a leaf, or of a result that retains it.

import { Rule } from "../arguments/rule.js";
import { kFlagsWord, kIsLeaf, kRetainsGrad } from "../generated/border.js";
import { checkedFor, native } from "../runtime/bridge/bridge.js";
import { isDue } from "../runtime/errors/once.js";
import { handleOf, infoWord } from "../tensor/info.js";
import { knownTensor, Tensor } from "../tensor/tensor.js";

/** Returns the gradient of a tensor, or null. */
export function gradOf(tensor: Tensor): Tensor | null {
  const gradient = knownTensor(checkedFor("grad", native.grad(handleOf(tensor))));
  if (gradient === null) warnOfResult(tensor);
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
}

const once = { done: false };

// Warns once: code that reads the gradient of a result most likely meant another tensor.
function warnOfResult(tensor: Tensor): void {
  if ((infoWord(tensor, kFlagsWord) & (kIsLeaf | kRetainsGrad)) !== 0 || !isDue(once)) return;
  console.warn(
    "edgegrad: grad was read from a tensor that is not a leaf, and backward() does not store gradients there. Call " +
      "x.retainGrad() before backward(), or read grad from a leaf.",
  );
}
