// eg.autograd.forwardAd: derivatives along one direction, computed with the values.

import { callFrame, checkedFor, native } from "../runtime/bridge.js";
import { handleOf } from "../tensor/info.js";
import { Tensor, takeTensor } from "../tensor/tensor.js";
import { runInMode } from "./mode.js";

/** A value and its derivative; `tangent` is null when there is none. */
export interface DualTensor {
  /** The value. */
  readonly primal: Tensor;
  /** Its derivative along the tangents of the inputs; null where there is none. */
  readonly tangent: Tensor | null;
}

/** Runs `fn`, in which tensors can have tangents, and returns its value; all tangents end with it. */
export function dualLevel<T>(fn: () => T): T {
  checkedFor("dualLevel", native.enterDualLevel());
  return runInMode("dualLevel", fn, () => checkedFor("dualLevel", native.exitDualLevel()));
}

/** Returns a view of `tensor` with a tangent: the direction that derivatives are taken in. */
export function makeDual(tensor: Tensor, tangent: Tensor): Tensor {
  return new Tensor(checkedFor("makeDual", native.makeDual(handleOf(tensor), handleOf(tangent))));
}

/** Returns a tensor's value and its tangent. */
export function unpackDual(tensor: Tensor): DualTensor {
  checkedFor("unpackDual", native.unpackDual(handleOf(tensor)));
  const [primal = 0, tangent = 0] = callFrame();
  return { primal: new Tensor(primal), tangent: takeTensor(tangent) };
}
