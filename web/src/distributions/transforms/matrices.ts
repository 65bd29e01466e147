// Transforms to triangular matrices, and to what they are factors of.

import { diagEmbed } from "../../composites/index.js";
import { eye, indexSelect } from "../../generated/ops.js";
import { tensor } from "../../ops/create.js";
import { finfo } from "../../ops/number_types.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { oneMinus } from "../base/numbers.js";
import {
  corrCholesky,
  independent,
  lowerCholesky,
  positiveDefinite,
  real,
  realVector,
} from "../constraints/constraints.js";
import { transformation } from "./declaration.js";
import type { Transform } from "./transform.js";

/** Takes square matrices to lower triangular ones with positive diagonals: exp() of the diagonal, zeros above. */
export class LowerCholeskyTransform extends transformation({
  domain: () => independent(real, 2),
  codomain: lowerCholesky,
  bijective: false,
  forward: (x) => x.tril(-1).add(diagEmbed(x.diagonal(0, -2, -1).exp())),
  inverse: (y) => y.tril(-1).add(diagEmbed(y.diagonal(0, -2, -1).log())),
}) {}

/** Takes square matrices to positive definite ones: L Lᵀ for the L of `LowerCholeskyTransform`. */
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

/** Takes vectors of n (n - 1) / 2 numbers to the lower triangular factors of correlation matrices of n rows. */
export class CorrCholeskyTransform extends transformation({
  domain: realVector,
  codomain: corrCholesky,
  forward(x, it) {
    const size = rowsFor(it, x.shape);
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
  // That of the elements below the diagonal.
  logStretch(x, y) {
    const left = oneMinus(y.square().cumsum(-1));
    // One column to the left of what is looked up, which shifts it to the right.
    const sticks = vectorOf(left, -2).log().sum(-1).mul(0.5);
    return x.add(x.mul(-2).softplus()).sub(Math.log(2)).sum(-1).mul(-2).add(sticks);
  },
  forwardShape(shape, it) {
    const size = rowsFor(it, shape);
    return [...shape.slice(0, -1), size, size];
  },
  inverseShape(shape, it) {
    const [rows, columns] = shape.slice(-2);
    if (rows !== undefined && rows === columns) {
      return [...shape.slice(0, -2), (rows * (rows - 1)) / 2];
    }
    return fail("ShapeMismatch", it.constructor.name, `Input is not square: [${shape}].`);
  },
}) {}

function rowsFor(it: Transform, shape: readonly number[]): number {
  const count = shape.at(-1);
  const size = count === undefined ? 0 : Math.round(Math.sqrt(0.25 + 2 * count) + 0.5);
  if (count !== undefined && (size * (size - 1)) / 2 === count) return size;
  const told = `Input is not a flattened lower triangle: [${shape}].`;
  return fail("ShapeMismatch", it.constructor.name, told);
}

/** Moves columns to the right, with ones first. */
function shifted(matrix: Tensor): Tensor {
  return matrix.narrow(-1, 0, (matrix.shape.at(-1) as number) - 1).pad([1, 0], { value: 1 });
}

/** Returns matrices with the elements of vectors below the diagonal, row by row. */
function matrixOf(vectors: Tensor, size: number): Tensor {
  const count = vectors.shape.at(-1) as number;
  // What has no place takes the zero behind the vector.
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
