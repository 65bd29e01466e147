// nn.utils.parametrizations.orthogonal: weights whose rows or columns are orthogonal vectors of norm 1.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { boolean, type Options, oneOf, Rule, text } from "../../arguments/rule.js";
import { adjoint, householderProduct, matrixExp } from "../../composites/index.js";
import {
  add,
  cat,
  clone,
  copy_,
  diagonal,
  div,
  eye,
  fill_,
  matmul,
  mul,
  narrow,
  qr,
  randn,
  sgn,
  solve,
  sub,
  sum,
  transpose,
  tril,
  unsqueeze,
  zeros,
  zerosLike,
} from "../../generated/ops.js";
import { allclose } from "../../ops/compare.js";
import { finfo } from "../../ops/number_types.js";
import { fail } from "../../runtime/errors/errors.js";
import { scope } from "../../tensor/scope.js";
import { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";
import { type Buffer, bufferFrom } from "../parameter.js";
import { reflectionsOf } from "./householder.js";
import { registerParametrization } from "./parametrize.js";

const kOptions = {
  /** The name of the parameter; default "weight". */
  name: text.or("weight"),
  /** How the matrix is computed; default "matrix_exp" for square matrices, "householder" for others. */
  orthogonalMap: oneOf("matrix_exp", "cayley", "householder").orNull(),
  /** Learn a factor of a constant orthogonal matrix, which makes any orthogonal matrix assignable; default true. */
  useTrivialization: boolean.or(true),
};

const kArguments = {
  module: new Rule<Module>("a module", (value) => value instanceof Module),
  ...kOptions,
};

/** Options of `orthogonal`. */
export type OrthogonalOptions = Options<typeof kOptions>;

/** How an orthogonal matrix is computed from any matrix. */
export type OrthogonalMap = "matrix_exp" | "cayley" | "householder";

/** Learns a weight whose columns, or rows if there are fewer, are orthogonal vectors of norm 1. */
export function orthogonal<M extends Module>(
  module: M,
  ...rest: Arguments<
    [name: string, orthogonalMap: OrthogonalMap | null, useTrivialization: boolean],
    OrthogonalOptions
  >
): M {
  const where = "orthogonal";
  const own = readArguments(where, kArguments, [module, ...rest]);
  const weight: unknown = Reflect.get(module, own.name);
  if (!(weight instanceof Tensor)) {
    const message = `${module.constructor.name} has no parameter or buffer "${own.name}".`;
    fail("InvalidArgument", where, message);
  }
  if (weight.ndim < 2) {
    const message = `expected a matrix or a batch of matrices, got ${weight.ndim} dimensions.`;
    fail("ShapeMismatch", where, message);
  }
  const [rows, columns] = weight.shape.slice(-2);
  const map = own.orthogonalMap ?? (rows === columns ? "matrix_exp" : "householder");
  if (map === "householder" && weight.isComplex()) {
    const message = "orthogonalMap: householder does not support complex tensors.";
    fail("InvalidArgument", where, message);
  }
  const isInvertible = own.useTrivialization || map === "householder";
  const made = isInvertible ? InvertibleOrthogonal : Orthogonal;
  const parametrization = new made(map, own.useTrivialization);
  return registerParametrization(module, own.name, parametrization, { unsafe: true });
}

class Orthogonal extends Module {
  static override readonly name = "_Orthogonal";
  readonly orthogonalMap: OrthogonalMap;
  readonly useTrivialization: boolean;
  base: Buffer | null = null;

  constructor(orthogonalMap: OrthogonalMap, useTrivialization: boolean) {
    super();
    this.orthogonalMap = orthogonalMap;
    this.useTrivialization = useTrivialization;
  }

  override forward(original: Tensor): Tensor {
    return scope(() =>
      ofTall(original, (tall) => {
        const made = this.orthogonalMap === "householder" ? reflected(tall) : this.#rotated(tall);
        return this.base === null ? made : matmul(this.base, made);
      }),
    );
  }

  // The exponential or the Cayley map of an antisymmetric matrix, cut to the columns of the weight.
  #rotated(tall: Tensor): Tensor {
    const [rows = 0, columns = 0] = tall.shape.slice(-2);
    const lower = tril(tall);
    const { dtype, device } = tall;
    const missing = [...tall.shape.slice(0, -1), rows - columns];
    const square = rows === columns ? lower : cat([lower, zeros(missing, { dtype, device })], -1);
    const skew = sub(square, adjoint(square));
    const rotation = this.orthogonalMap === "matrix_exp" ? matrixExp(skew) : cayleyOf(skew, rows);
    return rows === columns ? rotation : narrow(rotation, -1, 0, columns);
  }
}

/** Can compute its parameter from a matrix. */
class InvertibleOrthogonal extends Orthogonal {
  static override readonly name = "_Orthogonal";

  rightInverse(value: Tensor): Tensor {
    if (!this.useTrivialization) return scope(() => ofTall(value, reflectionsOf));
    const base = scope(() => orthogonalized(isWider(value) ? transpose(value, -2, -1) : value));
    if (this.base === null) this.base = bufferFrom(base);
    else copy_(this.base, base);
    return scope(() => {
      const original = zerosLike(value);
      fill_(diagonal(original, 0, -2, -1), -1);
      return original;
    });
  }
}

// Applies `fn` to a matrix with at least as many rows as columns, or to the transpose of one with fewer.
function ofTall(matrix: Tensor, fn: (tall: Tensor) => Tensor): Tensor {
  return isWider(matrix) ? transpose(fn(transpose(matrix, -2, -1)), -2, -1) : fn(matrix);
}

function isWider(matrix: Tensor): boolean {
  const [rows = 0, columns = 0] = matrix.shape.slice(-2);
  return rows < columns;
}

// (I - A / 2)⁻¹ (I + A / 2).
function cayleyOf(skew: Tensor, size: number): Tensor {
  const { dtype, device } = skew;
  const [identity, half] = [eye(size, { dtype, device }), mul(skew, 0.5)];
  return solve(sub(identity, half), add(identity, half));
}

function reflected(tall: Tensor): Tensor {
  const directions = tril(tall, -1);
  const lengths = sum(mul(directions, directions), -2);
  const product = householderProduct(directions, div(2, add(lengths, 1)));
  // Whole numbers without a gradient, as in PyTorch.
  const signs = diagonal(tall.detach(), 0, -2, -1).trunc();
  return mul(product, unsqueeze(signs, -2));
}

// An orthogonal matrix from one by QR decomposition, with random columns that make it square.
function orthogonalized(tall: Tensor): Tensor {
  const [rows = 0, columns = 0] = tall.shape.slice(-2);
  if (rows === columns && isOrthogonal(tall, rows)) return clone(tall);
  const { dtype, device } = tall;
  if (rows === columns) return orthogonalOf(tall);
  const more = randn([...tall.shape.slice(0, -2), rows, rows - columns], { dtype, device });
  return orthogonalOf(cat([tall, more], -1));
}

function isOrthogonal(matrix: Tensor, size: number): boolean {
  const { dtype, device } = matrix;
  const product = matmul(adjoint(matrix), matrix);
  const atol = 10 * size * finfo(dtype).eps;
  return allclose(product, eye(size, { dtype, device }), { atol });
}

function orthogonalOf(matrix: Tensor): Tensor {
  const [rotation, upper] = qr(matrix) as [Tensor, Tensor];
  const signs = sgn(diagonal(upper, 0, -2, -1));
  return mul(rotation, unsqueeze(signs, -2));
}
