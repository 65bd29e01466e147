// Transforms whose values are lower triangular matrices.

import { add, eye, zeros } from "../generated/ops.js";
import { tensor } from "../ops/create.js";
import { fail } from "../runtime/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import {
  type Constraint,
  corrCholesky,
  independent,
  lowerCholesky,
  real,
  realVector,
} from "./constraints.js";
import { limitsOf, oneMinus } from "./numbers.js";
import { Transform } from "./transform.js";

/** Takes the exponentials of a square matrix's diagonal, and drops what is above it; not bijective. */
export class LowerCholeskyTransform extends Transform {
  override get domain(): Constraint {
    return independent(real, 2);
  }

  override get codomain(): Constraint {
    return lowerCholesky;
  }

  override get bijective(): boolean {
    return false;
  }

  override call(x: Tensor): Tensor {
    return withDiagonal(x, x.diagonal(0, -2, -1).exp());
  }

  override inverse(y: Tensor): Tensor {
    return withDiagonal(y, y.diagonal(0, -2, -1).log());
  }

  override equals(other: Transform): boolean {
    return other instanceof LowerCholeskyTransform;
  }
}

/**
 * Makes vectors of D (D - 1) / 2 numbers the Cholesky factors [D, D] of correlation matrices: each row breaks off its pieces of
 * the length 1 by the tanh of its numbers.
 */
export class CorrCholeskyTransform extends Transform {
  override get domain(): Constraint {
    return realVector;
  }

  override get codomain(): Constraint {
    return corrCholesky;
  }

  override call(x: Tensor): Tensor {
    const { dtype, device } = x;
    const { eps } = limitsOf(dtype);
    const shares = this.belowDiagonal(x.tanh().clamp(-1 + eps, 1 - eps));
    const left = oneMinus(shares.square()).sqrt().cumprod(-1);
    return add(shares, eye(shares.shape.at(-1) as number, { dtype, device })).mul(shifted(left));
  }

  override inverse(y: Tensor): Tensor {
    const left = shifted(oneMinus(y.square().cumsum(-1)));
    const shares = entriesBelow(y, -1).div(entriesBelow(left, -1).sqrt());
    return shares.log1p().sub(shares.neg().log1p()).div(2);
  }

  override logAbsDetJacobian(x: Tensor, y: Tensor): Tensor {
    const left = oneMinus(y.square().cumsum(-1));
    // What is left before the last piece of each row; before the first all is.
    const ofPieces = entriesBelow(left, -2).log().sum(-1).mul(0.5);
    const ofTanh = x.add(x.mul(-2).softplus()).sub(Math.LN2).sum(-1).mul(-2);
    return ofPieces.add(ofTanh);
  }

  override forwardShape(shape: readonly number[]): readonly number[] {
    const size = this.sizeFor(shape);
    return [...shape.slice(0, -1), size, size];
  }

  override inverseShape(shape: readonly number[]): readonly number[] {
    const [rows = 0, columns = 0] = shape.slice(-2);
    if (shape.length >= 2 && rows === columns) {
      return [...shape.slice(0, -2), (rows * (rows - 1)) / 2];
    }
    return fail("ShapeMismatch", this.constructor.name, `Input is not square: [${shape}].`);
  }

  override equals(other: Transform): boolean {
    return other instanceof CorrCholeskyTransform;
  }

  private belowDiagonal(values: Tensor): Tensor {
    const { dtype, device } = values;
    const size = this.sizeFor(values.shape);
    const batch = values.shape.slice(0, -1);
    const none = zeros([...batch, size * size], { dtype, device });
    const places = placesBelow(size, -1, values);
    return none.indexCopy(-1, places, values).reshape([...batch, size, size]);
  }

  private sizeFor(shape: readonly number[]): number {
    const count = shape.at(-1);
    const size = Math.round(Math.sqrt(0.25 + 2 * (count ?? Number.NaN)) + 0.5);
    if ((size * (size - 1)) / 2 === count) return size;
    const told = `Input is not a flattened lower-diagonal matrix: its shape is [${shape}].`;
    return fail("ShapeMismatch", this.constructor.name, told);
  }
}

function withDiagonal(matrix: Tensor, diagonal: Tensor): Tensor {
  const { dtype, device } = matrix;
  const size = matrix.shape.at(-1) ?? 0;
  return matrix.tril(-1).add(eye(size, { dtype, device }).mul(diagonal.unsqueeze(-1)));
}

// Every column in the place of the next, and ones in that of the first.
function shifted(matrix: Tensor): Tensor {
  const size = matrix.shape.at(-1) as number;
  return matrix.narrow(-1, 0, size - 1).pad([1, 0], { value: 1 });
}

function entriesBelow(matrix: Tensor, diagonal: number): Tensor {
  const size = matrix.shape.at(-1) as number;
  const flat = matrix.reshape([...matrix.shape.slice(0, -2), size * size]);
  return flat.indexSelect(-1, placesBelow(size, diagonal, matrix));
}

// Where the entries of a square matrix at a diagonal and below it lie in the list of all.
function placesBelow(size: number, diagonal: number, { device }: Tensor): Tensor {
  const places: bigint[] = [];
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= row + diagonal; column++) {
      places.push(BigInt(row * size + column));
    }
  }
  return tensor(BigInt64Array.from(places), { shape: [places.length], dtype: "int64", device });
}
