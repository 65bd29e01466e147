// eg.autograd.forwardAd: forward-mode differentiation, which computes directional derivatives together with the values.

import { interpreter } from "../dispatch/interpreter.js";
import { callFrame, checkedFor, native } from "../runtime/bridge/bridge.js";
import { handleOf } from "../tensor/info.js";
import { knownTensor, Tensor } from "../tensor/tensor.js";
import { inMode, type ModeGuard } from "./mode.js";

/** A value and its tangent. */
export interface DualTensor {
  /** The value. */
  readonly primal: Tensor;
  /** Its derivative in the direction of the tangents of the inputs; null if there is none. */
  readonly tangent: Tensor | null;
}

/**
 * Runs `fn`, inside which tensors can have tangents, and returns its value. All tangents are removed when it ends. Without
 * `fn`, returns a guard for `using`.
 */
export function dualLevel(): ModeGuard;
export function dualLevel<T>(fn: () => T): T;
export function dualLevel<T>(fn?: () => T): T | ModeGuard {
  checkedFor("dualLevel", native.enterDualLevel());
  return inMode("dualLevel", fn, () => checkedFor("dualLevel", native.exitDualLevel()));
}

/** Returns a view of `tensor` with a tangent, which is the direction for derivatives. */
export function makeDual(tensor: Tensor, tangent: Tensor): Tensor {
  if (interpreter?.makeDual !== undefined) return interpreter.makeDual(tensor, tangent);
  return new Tensor(checkedFor("makeDual", native.makeDual(handleOf(tensor), handleOf(tangent))));
}

/** Returns a tensor's value and its tangent. */
export function unpackDual(tensor: Tensor): DualTensor {
  if (interpreter?.unpackDual !== undefined) return interpreter.unpackDual(tensor);
  checkedFor("unpackDual", native.unpackDual(handleOf(tensor)));
  const [primal = 0, tangent = 0] = callFrame();
  return { primal: new Tensor(primal), tangent: knownTensor(tangent) };
}
