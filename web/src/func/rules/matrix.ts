// Rules for products of matrices and vectors, and for linear algebra, which operates on the last two dimensions.

import { einsum } from "../../generated/internal.js";
import {
  add,
  linear,
  matmul,
  mul,
  reshape,
  squeeze,
  transpose,
  unsqueeze,
} from "../../generated/ops.js";
import { einsum as einsumText } from "../../ops/einsum.js";
import { Tensor } from "../../tensor/tensor.js";
import {
  broadcastable,
  type Call,
  type Operand,
  type Result,
  type Rule,
  withRank,
} from "./call.js";
import { shifted } from "./dims.js";

// Returns the product of two samples, as matmul() defines it.
function product(a: Operand, b: Operand): Operand {
  if (a.rank === 1 && b.rank === 2 && a.isBatched && !b.isBatched) {
    // The batch of vectors is treated as one matrix.
    return { tensor: matmul(a.tensor, b.tensor), isBatched: true, rank: 1 };
  }
  const left = a.rank === 1 ? { ...a, tensor: unsqueeze(a.tensor, -2), rank: 2 } : a;
  const right = b.rank === 1 ? { ...b, tensor: unsqueeze(b.tensor, -1), rank: 2 } : b;
  const rank = Math.max(left.rank, right.rank);
  let tensor = matmul(broadcastable(left, rank), broadcastable(right, rank));
  if (b.rank === 1) tensor = squeeze(tensor, -1);
  if (a.rank === 1) tensor = squeeze(tensor, b.rank === 1 ? -1 : -2);
  const isBatched = a.isBatched || b.isBatched;
  return { tensor, isBatched, rank: isBatched ? tensor.ndim - 1 : tensor.ndim };
}

type Product = (call: Call) => Operand | null;

const productOf = (first: string, second: string, ...ranks: [number, number] | []): Product => {
  return (call) => {
    const [a, b] = [call.operand(first), call.operand(second)] as [Operand, Operand];
    const isWrong = ranks.length > 0 && (a.rank !== ranks[0] || b.rank !== ranks[1]);
    return isWrong || a.rank === 0 || b.rank === 0 ? null : product(a, b);
  };
};

const plain = (productOf: Product): Rule => {
  return (call) => productOf(call)?.tensor ?? null;
};

// Returns a + b, where at least one of them is batched.
function sumOf(a: Operand, b: Operand): Tensor {
  const rank = Math.max(a.rank, b.rank);
  return add(broadcastable(a, rank), broadcastable(b, rank));
}

const scaled = (operand: Operand, factor: number): Operand =>
  factor === 1 ? operand : { ...operand, tensor: mul(operand.tensor, factor) };

// Computes beta * input + alpha * product; input is not read if beta is 0.
const sumWithProduct = (productOf: Product): Rule => {
  return (call) => {
    const result = productOf(call);
    const beta = call.value<number>("beta");
    if (result === null || (beta === 0 && !result.isBatched)) return null;
    const own = scaled(result, call.value<number>("alpha"));
    return beta === 0 ? own.tensor : sumOf(own, scaled(call.operand("input") as Operand, beta));
  };
};

const outerOf = (first: string, second: string): Product => {
  return (call) => {
    const tensor = mul(unsqueeze(call.batch(first), 2), unsqueeze(call.batch(second), 1));
    return { tensor, isBatched: true, rank: 2 };
  };
};

const summedBmm: Product = (call) => {
  const tensor = matmul(call.batch("batch1"), call.batch("batch2")).sum(1);
  return { tensor, isBatched: true, rank: 2 };
};

const linearOf: Rule = (call) => {
  const input = call.operand("input") as Operand;
  const weight = call.operand("weight") as Operand;
  const bias = call.operand("bias");
  if (input.rank === 0 || weight.rank === 0) return null;
  const isShared = !weight.isBatched && bias?.isBatched !== true;
  if (isShared) return linear(input.tensor, weight.tensor, bias?.tensor ?? null);
  const matrix = weight.rank === 1 ? weight.tensor : transpose(weight.tensor, -2, -1);
  const result = product(input, { ...weight, tensor: matrix });
  return bias === null ? result.tensor : sumOf(result, bias);
};

// The batch of an input is one more leading dimension.
const quantizedLinearOf: Rule = (call) => {
  const { tensor, rank } = call.operand("input") as Operand;
  const others = ["weight", "scale", "bias"];
  if (rank === 0 || others.some((name) => call.isBatched(name))) return null;
  return call.runOne({ input: tensor });
};

/** Runs the op on all tensors with the batch in front, extended to the largest number of dimensions. */
const leading = (call: Call): Result => {
  const tensors = call.values.filter((value) => value instanceof Tensor);
  const rank = Math.max(...tensors.map((tensor) => tensor.ndim));
  const changes: Record<string, Tensor> = {};
  call.op.parameters.forEach(({ name }, i) => {
    const value = call.values[i];
    if (value instanceof Tensor) changes[name] = withRank(call.batchOf(value), rank);
  });
  return call.run(changes);
};

// solve(A, B) treats B as vectors if it has one dimension less than A.
const solved: Rule = (call) => {
  const [a, b] = [call.rank("A"), call.rank("B")];
  if (b >= a && b > 1) return leading(call);
  const rows = call.value<Tensor>("A").shape.slice(0, -1);
  const areVectors = b === 1 || String(call.value<Tensor>("B").shape) === String(rows);
  if (!areVectors || call.value("left") !== true) return null;
  const [A, B] = [call.batch("A"), unsqueeze(call.batch("B"), -1)];
  return squeeze(call.runOne({ A, B: withRank(B, a) }), -1);
};

const bilinearOf: Rule = (call) => {
  const bias = call.operand("bias");
  if (!call.isBatched("weight") && bias?.isBatched !== true) {
    return call.run({ input1: call.batch("input1"), input2: call.batch("input2") });
  }
  const inputs = [call.batch("input1"), call.batch("weight"), call.batch("input2")];
  const tensor = einsumText("z...i,zoij,z...j->z...o", inputs);
  const result = { tensor, isBatched: true, rank: tensor.ndim - 1 };
  return bias === null ? tensor : sumOf(result, bias);
};

const kComma = 44;
const kArrow = [45, 62];
const kDot = 46;

const isLetter = (code: number): boolean => code !== kComma && code !== kDot && code > 64;

// The implicit output of an equation without an arrow: the letters that appear once, in alphabetical order.
function outputOf(inputs: readonly number[]): number[] {
  const once = inputs
    .filter(isLetter)
    .filter((code, _, all) => all.indexOf(code) === all.lastIndexOf(code));
  const dots = inputs.includes(kDot) ? [kDot, kDot, kDot] : [];
  return [...dots, ...once.sort((a, b) => a - b)];
}

// Adds an unused letter for the batch in front.
const einsumOf: Rule = (call) => {
  const codes = call.value<number[]>("equation").filter((code) => code !== 32);
  const operands = call.value<Tensor[]>("operands").map((operand) => call.operandOf(operand));
  const arrow = codes.indexOf(kArrow[0] as number);
  const inputs = arrow < 0 ? codes : codes.slice(0, arrow);
  const output = arrow < 0 ? outputOf(inputs) : codes.slice(arrow + 2);
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"];
  const free = letters.map((letter) => letter.charCodeAt(0)).find((code) => !codes.includes(code));
  if (free === undefined) return null;
  let position = 0;
  const parts = splitAt(inputs, kComma).map((part) =>
    operands[position++]?.isBatched ? [free, ...part] : part,
  );
  const joined = parts.flatMap((part, i) => (i === 0 ? part : [kComma, ...part]));
  return einsum(
    [...joined, ...kArrow, free, ...output],
    operands.map(({ tensor }) => tensor),
  );
};

function splitAt(codes: readonly number[], separator: number): number[][] {
  const parts: number[][] = [[]];
  for (const code of codes) {
    if (code === separator) parts.push([]);
    else parts.at(-1)?.push(code);
  }
  return parts;
}

// Interleaves the dimensions of both tensors and multiplies.
const kronecker: Rule = (call) => {
  const rank = Math.max(call.rank("input"), call.rank("other"));
  const a = withRank(call.batch("input"), rank).shape.slice(1);
  const b = withRank(call.batch("other"), rank).shape.slice(1);
  const spread = (name: string, shape: readonly number[]) =>
    reshape(call.batch(name), [call.size, ...shape]);
  const left = spread(
    "input",
    a.flatMap((size) => [size, 1]),
  );
  const right = spread(
    "other",
    b.flatMap((size) => [1, size]),
  );
  return reshape(mul(left, right), [call.size, ...a.map((size, i) => size * (b[i] ?? 1))]);
};

const square: Rule = (call) => {
  const values = call.values.filter((value) => value instanceof Tensor);
  return values.every((value) => value.ndim >= 2) ? leading(call) : null;
};

const crossed: Rule = (call) => {
  if (call.value<number>("dim") < 0) return leading(call);
  return call.rank("input") === call.rank("other") ? shifted(call) : null;
};

/** Returns the rules of matrix ops. */
export const matrixRules = (): Readonly<Record<string, Rule>> => ({
  mm: plain(productOf("input", "mat2", 2, 2)),
  bmm: plain(productOf("input", "mat2", 3, 3)),
  mv: plain(productOf("input", "vec", 2, 1)),
  dot: plain(productOf("input", "tensor", 1, 1)),
  matmul: plain(productOf("input", "other")),
  addmm: sumWithProduct(productOf("mat1", "mat2", 2, 2)),
  baddbmm: sumWithProduct(productOf("batch1", "batch2", 3, 3)),
  addmv: sumWithProduct(productOf("mat", "vec", 2, 1)),
  addr: sumWithProduct(outerOf("vec1", "vec2")),
  addbmm: sumWithProduct(summedBmm),
  linear: linearOf,
  quantizedLinear: quantizedLinearOf,
  bilinear: bilinearOf,
  outer: plain(outerOf("input", "vec2")),
  einsum: einsumOf,
  det: square,
  slogdet: square,
  inverse: square,
  cholesky: square,
  solve: solved,
  solveTriangular: leading,
  lu: square,
  luFactor: square,
  cross: crossed,
  qr: square,
  svd: square,
  svdvals: square,
  eigh: square,
  eigvalsh: square,
  eig: square,
  eigvals: square,
  balanceRatios: square,
  pinv: square,
  kron: kronecker,
  cdist: square,
  scaledDotProductAttention: leading,
});
