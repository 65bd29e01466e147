import { hasShape } from "../tensor/shape.js";
import { Tensor } from "../tensor/tensor.js";
import { areEqual, elementsIn } from "./elements.js";

/**
 * Returns whether two tensors have the same shape, dtype, device and elements, where NaN equals NaN; undefined if either value is
 * no tensor. Test runners compare tensors by it: `expect.addEqualityTesters([eg.testing.tensorsAreEqual])`. Blocks until a GPU has
 * finished.
 */
export function tensorsAreEqual(a: unknown, b: unknown): boolean | undefined {
  if (!(a instanceof Tensor && b instanceof Tensor)) return undefined;
  const { numel } = a;
  const isAlike = a.dtype === b.dtype && a.device === b.device && hasShape(a.shape, b.shape);
  if (!isAlike) return false;
  const [left, right] = [elementsIn(a), elementsIn(b)];
  for (let i = 0; i < numel; i++) if (!areEqual(left(i), right(i), true)) return false;
  return true;
}
