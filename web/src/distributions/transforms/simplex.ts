// Transforms of vectors to vectors of nonnegative numbers whose sum is 1.

import { arange } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { limitsOf, oneMinus } from "../base/numbers.js";
import { realVector, simplex } from "../constraints/constraints.js";
import { transformation } from "./declaration.js";
import { clippedSigmoid } from "./plain.js";
import type { Transform } from "./transform.js";

/** y = softmax(x), and back log(y); not bijective. */
export class SoftmaxTransform extends transformation({
  domain: realVector,
  codomain: simplex,
  bijective: false,
  forward: (x) => x.softmax(-1),
  inverse: (y) => y.log(),
  forwardShape: (shape, it) => resized(it, shape, 0),
  inverseShape: (shape, it) => resized(it, shape, 0),
}) {}

/** Takes each coordinate as the share that breaks off what is left of a stick; the last piece is the rest. */
export class StickBreakingTransform extends transformation({
  domain: realVector,
  codomain: simplex,
  forward(x) {
    const share = clippedSigmoid(x.sub(logPiecesLeft(x)));
    const left = oneMinus(share).cumprod(-1);
    return share.pad([0, 1], { value: 1 }).mul(left.pad([1, 0], { value: 1 }));
  },
  inverse(y) {
    const pieces = y.narrow(-1, 0, (y.shape.at(-1) as number) - 1);
    const left = oneMinus(pieces.cumsum(-1)).clamp(limitsOf(y.dtype).tiny);
    return pieces.log().sub(left.log()).add(logPiecesLeft(pieces));
  },
  logStretch(x, y) {
    const moved = x.sub(logPiecesLeft(x));
    const pieces = y.narrow(-1, 0, x.shape.at(-1) as number);
    return moved.logsigmoid().sub(moved).add(pieces.log()).sum(-1);
  },
  forwardShape: (shape, it) => resized(it, shape, 1),
  inverseShape: (shape, it) => resized(it, shape, -1),
}) {}

function resized(it: Transform, shape: readonly number[], by: number): readonly number[] {
  const last = shape.at(-1);
  if (last !== undefined) return [...shape.slice(0, -1), last + by];
  return fail("ShapeMismatch", it.constructor.name, "Too few dimensions on input.");
}

// The logarithms of n, n - 1, ..., 1 for vectors of n numbers: what makes equal pieces of zeros.
function logPiecesLeft(x: Tensor): Tensor {
  const { dtype, device } = x;
  return arange(x.shape.at(-1) as number, 0, -1, { dtype, device }).log();
}
