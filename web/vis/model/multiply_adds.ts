// The number of multiply-adds of the ops that dominate the time of models.

import type { func, Tensor } from "edgegrad";
import { tensorsIn } from "./follow.js";

type Values = Readonly<Record<string, Tensor>>;
type Count = (values: Values, result: Tensor) => number;

const last = ({ shape }: Tensor) => shape.at(-1) ?? 1;

// Every element of the result is a sum over one filter.
const convolution: Count = ({ weight }, result) =>
  (result.numel * (weight as Tensor).numel) / ((weight as Tensor).shape[0] ?? 1);

// Every element of the input is multiplied by one filter.
const transposed: Count = ({ input, weight }) =>
  ((input as Tensor).numel * (weight as Tensor).numel) / ((weight as Tensor).shape[0] ?? 1);

/** Returns the counting function of a product whose first matrix is the argument with this name. */
const product =
  (matrix: string): Count =>
  (values, result) =>
    result.numel * last(values[matrix] as Tensor);

// The products with the hidden state; a linear() computes those with the inputs.
const ofSteps: Count = ({ inputGates, weight }) =>
  (inputGates as Tensor).numel * last(weight as Tensor);

const kCounts: Readonly<Record<string, Count>> = {
  linear: product("input"),
  mm: product("input"),
  bmm: product("input"),
  mv: product("input"),
  dot: product("input"),
  matmul: product("input"),
  addmm: product("mat1"),
  addmv: product("mat"),
  baddbmm: product("batch1"),
  conv1d: convolution,
  conv2d: convolution,
  convTranspose1d: transposed,
  convTranspose2d: transposed,
  bilinear: ({ input1, input2 }, result) =>
    result.numel * last(input1 as Tensor) * last(input2 as Tensor),
  scaledDotProductAttention: ({ query, key, value }) => {
    const keys = (key as Tensor).shape.at(-2) ?? 1;
    const queries = (query as Tensor).numel / last(query as Tensor);
    return queries * keys * (last(query as Tensor) + last(value as Tensor));
  },
  lstmSteps: ofSteps,
  gruSteps: ofSteps,
  rnnSteps: ofSteps,
};

/** Returns the multiply-adds of a call of an op; 0 for ops other than products and convolutions. */
export function multiplyAddsOf({ op, values }: func.OpCall, result: Tensor): number {
  if (op === "einsum") return ofEinsum(values);
  const name = op.replace(/_$/, "");
  return Object.hasOwn(kCounts, name) ? (kCounts[name] as Count)(values as Values, result) : 0;
}

// One for every combination of the indices.
function ofEinsum(values: Readonly<Record<string, unknown>>): number {
  const operands = tensorsIn(values);
  const { equation } = values;
  const text =
    typeof equation === "string" ? equation : String.fromCharCode(...(equation as number[]));
  const [inputs = ""] = text.replaceAll(" ", "").split("->");
  const terms = inputs.split(",");
  if (operands.length < 2) return 0;
  const sizes = new Map<string, number>();
  terms.forEach((term, i) => {
    const shape = operands[i]?.shape ?? [];
    const [before = "", after] = term.split("...");
    const named = (letters: string, start: number) => {
      [...letters].forEach((letter, at) => {
        sizes.set(letter, Math.max(sizes.get(letter) ?? 1, shape[start + at] ?? 1));
      });
    };
    named(before, 0);
    if (after === undefined) return;
    named(after, shape.length - after.length);
    const rest = shape.slice(before.length, shape.length - after.length);
    rest.reverse().forEach((size, at) => {
      sizes.set(`...${at}`, Math.max(sizes.get(`...${at}`) ?? 1, size));
    });
  });
  return [...sizes.values()].reduce((all, size) => all * size, 1);
}
