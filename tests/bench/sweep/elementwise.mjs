// The calls of elementwise formulas in the sweep. Their names and domains are in the op table; listed here are layouts
// of operands, and functions that are composed of other ops and thus not in the table.

import { readFileSync } from "node:fs";
import { B, I, N, U } from "./operands.mjs";

const kTable = new URL("../../../web/src/generated/op_table.json", import.meta.url);

/** Operands that are passed as numbers. */
const kNumbers = {
  polygamma: { n: 1 },
  clampMin: { min: 0.1 },
  clampMax: { max: 0.1 },
  maskedFill: { value: 0.5 },
};

/** Ops whose first operand is a number in the table, because it has no gradient. */
const kOrders = ["gammainc", "gammaincc"];

const kMasks = ["condition", "mask"];

function operand(op, { name }, [low, high], z) {
  if (op.isOfIntegers) return I(7, z.rows, z.columns);
  if (kNumbers[op.js]?.[name] !== undefined) return kNumbers[op.js][name];
  if (kOrders.includes(op.js) && name === "input") return U(0.5, 2, z.rows, z.columns);
  if (kMasks.includes(name)) return B(z.rows, z.columns);
  return low < high ? U(low, high, z.rows, z.columns) : low;
}

function argumentsOf(op, z) {
  const args = op.args.filter(({ type }) => type === "operand");
  return [
    ...args.map((arg, i) => operand(op, arg, op.domains[i], z)),
    ...(op.js === "clamp" ? [-0.5, 0.5] : []),
  ];
}

const kFormulas = Object.fromEntries(
  JSON.parse(readFileSync(kTable, "utf8"))
    .ops.filter(({ kind }) => kind === "elementwise")
    .map((op) => [
      op.js,
      { args: (z) => argumentsOf(op, z), isForwardOnly: kOrders.includes(op.js) },
    ]),
);

const matrix = (z) => N(z.rows, z.columns);
const one = (z) => [matrix(z)];
const two = (z) => [matrix(z), matrix(z)];

export const kElementwise = {
  ...kFormulas,
  prelu: (z) => [matrix(z), N(1)],
  threshold: (z) => [matrix(z), 0.25, -1],
  isclose: two,
  deg2rad: one,
  rad2deg: one,
  floatPower: (z) => [U(0.5, 2, z.rows, z.columns), 2.5],
  frexp: one,
  isneginf: one,
  isposinf: one,
  isreal: one,
  ldexp: (z) => [matrix(z), I(4, z.rows, z.columns)],
  multigammaln: { args: (z) => [U(2, 4, z.rows, z.columns), 3], theirs: "special.multigammaln" },
  mvlgamma: (z) => [U(2, 4, z.rows, z.columns), 2],
  nextafter: two,
  rsub: { args: two, theirs: "rsub" },
  trueDivide: { args: (z) => [matrix(z), U(0.5, 2, z.rows, z.columns)], theirs: "true_divide" },
};

/** Layouts of the second operand of a product relative to the first. */
export const kBroadcast = {
  "mul by a row": { call: "mul", args: (z) => [matrix(z), N(z.columns)] },
  "mul by a column": { call: "mul", args: (z) => [matrix(z), N(z.rows, 1)] },
  "mul by a row of 26": { call: "mul", args: (z) => [N(z.count / 32, 26), N(26)] },
  "mul by a column, rows of 26": {
    call: "mul",
    args: (z) => [N(z.count / 32, 26), N(z.count / 32, 1)],
  },
  "mul by channels": { call: "mul", args: (z) => [N(z.batch, 16, 26, 26), N(16, 1, 1)] },
  "mul by rows of images": { call: "mul", args: (z) => [N(z.batch, 16, 26, 26), N(26)] },
  "mul by columns of images": { call: "mul", args: (z) => [N(z.batch, 16, 26, 26), N(26, 1)] },
  "mul by one image": { call: "mul", args: (z) => [N(z.batch, 16, 26, 26), N(16, 26, 26)] },
  "mul by a number per image": {
    call: "mul",
    args: (z) => [N(z.batch, 16, 26, 26), N(z.batch, 1, 1, 1)],
  },
  "mul of a row and a column": { call: "mul", args: (z) => [N(z.rows, 1), N(z.columns)] },
  "mul by the transposed": {
    call: "mul",
    args: (z) => [N(z.rows, z.columns), N(z.columns, z.rows)],
    views: [1],
  },
  "mul by int64": { call: "mul", args: (z) => [matrix(z), I(7, z.rows, z.columns)] },
};
