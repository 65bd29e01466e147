import { diagEmbed } from "../../composites/index.js";
import { arange, eye, indexSelect } from "../../generated/ops.js";
import { tensor } from "../../ops/create.js";
import { finfo } from "../../ops/number_types.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { limitsOf, oneMinus } from "../base/numbers.js";
import {
  corrCholesky,
  independent,
  interval,
  lowerCholesky,
  positive,
  positiveDefinite,
  real,
  realVector,
  simplex,
  unitInterval,
} from "../constraints/constraints.js";
import { rising, type Transform, transformation } from "./transform.js";

/** y = exp(x). */
export class ExpTransform extends rising({
  codomain: positive,
  forward: (x) => x.exp(),
  inverse: (y) => y.log(),
  logStretch: (x) => x,
}) {}

/** y = 1 / (1 + exp(-x)), clamped away from 0 and 1. */
export class SigmoidTransform extends rising({
  codomain: unitInterval,
  forward: clippedSigmoid,
  inverse(y) {
    const inside = clipped(y);
    return inside.log().sub(inside.neg().log1p());
  },
  logStretch: (x) => x.neg().softplus().neg().sub(x.softplus()),
}) {}

/** y = log(1 + exp(x)). */
export class SoftplusTransform extends rising({
  codomain: positive,
  forward: (x) => x.softplus(),
  inverse: (y) => y.neg().expm1().neg().log().add(y),
  logStretch: (x) => x.neg().softplus().neg(),
}) {}

/** y = tanh(x). */
export class TanhTransform extends rising({
  codomain: () => interval(-1, 1),
  forward: (x) => x.tanh(),
  inverse: (y) => y.atanh(),
  // log(1 - tanh²) without cancellation.
  logStretch: (x) => x.neg().add(Math.log(2)).sub(x.mul(-2).softplus()).mul(2),
}) {}

/** y = |x|; the inverse returns the nonnegative x. */
export class AbsTransform extends transformation({
  domain: real,
  codomain: positive,
  bijective: false,
  forward: (x) => x.abs(),
  inverse: (y) => y,
}) {}

function clipped(probability: Tensor): Tensor {
  const { tiny, eps } = limitsOf(probability.dtype);
  return probability.clamp(tiny, 1 - eps);
}

/** Returns the sigmoid, clamped away from 0 and 1 by the precision of the dtype. */
export function clippedSigmoid(x: Tensor): Tensor {
  return clipped(x.sigmoid());
}

/** y = softmax(x), with log(y) as inverse; not bijective. */
export class SoftmaxTransform extends transformation({
  domain: realVector,
  codomain: simplex,
  bijective: false,
  forward: (x) => x.softmax(-1),
  inverse: (y) => y.log(),
  forwardShape: (shape, self) => resized(self, shape, 0),
  inverseShape: (shape, self) => resized(self, shape, 0),
}) {}

/** Stick breaking: each coordinate is the share broken off the rest of a stick of length 1; the last piece is what remains. */
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
  forwardShape: (shape, self) => resized(self, shape, 1),
  inverseShape: (shape, self) => resized(self, shape, -1),
}) {}

function resized(self: Transform, shape: readonly number[], by: number): readonly number[] {
  const last = shape.at(-1);
  if (last !== undefined) return [...shape.slice(0, -1), last + by];
  return fail("ShapeMismatch", self.constructor.name, "expected at least one dimension, got none.");
}

// The logarithms of n, n - 1, ..., 1 for vectors of n numbers; this offset maps zeros to equal pieces.
function logPiecesLeft(x: Tensor): Tensor {
  const { dtype, device } = x;
  return arange(x.shape.at(-1) as number, 0, -1, { dtype, device }).log();
}

/** Maps square matrices to lower triangular ones with positive diagonals: exp() of the diagonal, zeros above. */
export class LowerCholeskyTransform extends transformation({
  domain: () => independent(real, 2),
  codomain: lowerCholesky,
  bijective: false,
  forward: (x) => x.tril(-1).add(diagEmbed(x.diagonal(0, -2, -1).exp())),
  inverse: (y) => y.tril(-1).add(diagEmbed(y.diagonal(0, -2, -1).log())),
}) {}

/** Maps square matrices to positive definite ones: L Lᵀ for the L of `LowerCholeskyTransform`. */
export class PositiveDefiniteTransform extends transformation({
  domain: () => independent(real, 2),
  codomain: positiveDefinite,
  bijective: false,
  forward(x) {
    const factor = new LowerCholeskyTransform().call(x);
    return factor.matmul(factor.transpose(-2, -1));
  },
  inverse: (y) => new LowerCholeskyTransform().inverse(y.cholesky()),
}) {}

/** Maps vectors of n (n - 1) / 2 numbers to the lower triangular factors of correlation matrices with n rows. */
export class CorrCholeskyTransform extends transformation({
  domain: realVector,
  codomain: corrCholesky,
  forward(x, self) {
    const size = rowsFor(self, x.shape);
    const { dtype, device } = x;
    const { eps } = finfo(dtype);
    const below = matrixOf(x.tanh().clamp(eps - 1, 1 - eps), size);
    const left = oneMinus(below.square()).sqrt().cumprod(-1);
    return below.add(eye(size, { dtype, device })).mul(shifted(left));
  },
  inverse(y) {
    const left = shifted(oneMinus(y.square().cumsum(-1)));
    const share = vectorOf(y, -1).div(vectorOf(left, -1).sqrt());
    return share.add(1).div(oneMinus(share)).log().div(2);
  },
  // The Jacobian of the elements below the diagonal.
  logStretch(x, y) {
    const left = oneMinus(y.square().cumsum(-1));
    // Diagonal -2 instead of -1 selects the column to the left, which shifts the columns to the right.
    const sticks = vectorOf(left, -2).log().sum(-1).mul(0.5);
    return x.add(x.mul(-2).softplus()).sub(Math.log(2)).sum(-1).mul(-2).add(sticks);
  },
  forwardShape(shape, self) {
    const size = rowsFor(self, shape);
    return [...shape.slice(0, -1), size, size];
  },
  inverseShape(shape, self) {
    const [rows, columns] = shape.slice(-2);
    if (rows !== undefined && rows === columns) {
      return [...shape.slice(0, -2), (rows * (rows - 1)) / 2];
    }
    return fail(
      "ShapeMismatch",
      self.constructor.name,
      `expected square matrices, got shape [${shape}].`,
    );
  },
}) {}

function rowsFor(self: Transform, shape: readonly number[]): number {
  const count = shape.at(-1);
  const size = count === undefined ? 0 : Math.round(Math.sqrt(0.25 + 2 * count) + 0.5);
  if (count !== undefined && (size * (size - 1)) / 2 === count) return size;
  const message = `expected n (n - 1) / 2 elements in the last dimension, got shape [${shape}].`;
  return fail("ShapeMismatch", self.constructor.name, message);
}

/** Shifts the columns to the right by one; the first column becomes ones. */
function shifted(matrix: Tensor): Tensor {
  return matrix.narrow(-1, 0, (matrix.shape.at(-1) as number) - 1).pad([1, 0], { value: 1 });
}

/** Returns matrices with the elements of vectors below the diagonal, row by row. */
function matrixOf(vectors: Tensor, size: number): Tensor {
  const count = vectors.shape.at(-1) as number;
  // All other elements select the zero appended to the vector.
  const places = Array.from({ length: size * size }, (_, i) => {
    const [row, column] = [Math.floor(i / size), i % size];
    return column < row ? (row * (row - 1)) / 2 + column : count;
  });
  return at(vectors.pad([0, 1]), places).reshape([...vectors.shape.slice(0, -1), size, size]);
}

/** Returns the elements of matrices on a diagonal and below it, row by row. */
function vectorOf(matrices: Tensor, diagonal: number): Tensor {
  const size = matrices.shape.at(-1) as number;
  const places = Array.from({ length: size * size }, (_, i) => i).filter(
    (i) => (i % size) - Math.floor(i / size) <= diagonal,
  );
  return at(matrices.flatten(-2), places);
}

function at(vectors: Tensor, places: readonly number[]): Tensor {
  const { device } = vectors;
  return indexSelect(vectors, -1, tensor([...places], { dtype: "int64", device }));
}
