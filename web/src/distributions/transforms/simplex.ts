// Transforms of vectors to vectors of nonnegative numbers whose sum is 1.

import { arange } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { limitsOf, oneMinus } from "../base/numbers.js";
import { type Constraint, realVector, simplex } from "../constraints/constraints.js";
import { clippedSigmoid } from "./plain.js";
import { Transform } from "./transform.js";

/** A transform of vectors to vectors of nonnegative numbers whose sum is 1. */
abstract class SimplexTransform extends Transform {
  override get domain(): Constraint {
    return realVector;
  }

  override get codomain(): Constraint {
    return simplex;
  }

  override equals(other: Transform): boolean {
    return other.constructor === this.constructor;
  }

  protected resized(shape: readonly number[], by: number): readonly number[] {
    const last = shape.at(-1);
    if (last !== undefined) return [...shape.slice(0, -1), last + by];
    return fail("ShapeMismatch", this.constructor.name, "Too few dimensions on input.");
  }
}

/** y = softmax(x), and back log(y); not bijective. */
export class SoftmaxTransform extends SimplexTransform {
  override get bijective(): boolean {
    return false;
  }

  protected override forward(x: Tensor): Tensor {
    return x.softmax(-1);
  }

  protected override invert(y: Tensor): Tensor {
    return y.log();
  }

  override forwardShape(shape: readonly number[]): readonly number[] {
    return this.resized(shape, 0);
  }

  override inverseShape(shape: readonly number[]): readonly number[] {
    return this.resized(shape, 0);
  }
}

/** Takes each coordinate as the share that breaks off what is left of a stick; the last piece is the rest. */
export class StickBreakingTransform extends SimplexTransform {
  protected override forward(x: Tensor): Tensor {
    const share = clippedSigmoid(x.sub(logPiecesLeft(x)));
    const left = oneMinus(share).cumprod(-1);
    return share.pad([0, 1], { value: 1 }).mul(left.pad([1, 0], { value: 1 }));
  }

  protected override invert(y: Tensor): Tensor {
    const pieces = y.narrow(-1, 0, (y.shape.at(-1) as number) - 1);
    const left = oneMinus(pieces.cumsum(-1)).clamp(limitsOf(y.dtype).tiny);
    return pieces.log().sub(left.log()).add(logPiecesLeft(pieces));
  }

  protected override logStretch(x: Tensor, y: Tensor): Tensor {
    const moved = x.sub(logPiecesLeft(x));
    const pieces = y.narrow(-1, 0, x.shape.at(-1) as number);
    return moved.logsigmoid().sub(moved).add(pieces.log()).sum(-1);
  }

  override forwardShape(shape: readonly number[]): readonly number[] {
    return this.resized(shape, 1);
  }

  override inverseShape(shape: readonly number[]): readonly number[] {
    return this.resized(shape, -1);
  }
}

// The logarithms of n, n - 1, ..., 1 for vectors of n numbers: what makes equal pieces of zeros.
function logPiecesLeft(x: Tensor): Tensor {
  const { dtype, device } = x;
  return arange(x.shape.at(-1) as number, 0, -1, { dtype, device }).log();
}
