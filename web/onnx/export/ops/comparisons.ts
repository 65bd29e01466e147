// Elementwise ops with boolean results.

import type { DType } from "edgegrad";
import type { Call, Writer, Writers } from "../call.js";
import type { Name } from "../graph.js";
import { Value, Varying } from "../values.js";
import { isFloat } from "./elementwise.js";

/** Dtypes in the order of promotion. */
export const kOrder: readonly DType[] = [
  "bool",
  "uint8",
  "int32",
  "int64",
  "float16",
  "bfloat16",
  "float32",
  "float64",
];

/** Returns the type in which operands are ordered: ONNX does not order booleans. */
export function orderedType(c: Call, ...names: readonly string[]): DType {
  const common = commonType(c, ...names);
  return common === "bool" ? "uint8" : common;
}

/** Returns the type in which operands are compared. */
export function commonType(c: Call, ...names: readonly string[]): DType {
  const given = names.map((name) => c.arg(name));
  const tensors = given.filter((value): value is Value => value instanceof Value);
  const largest = Math.max(...tensors.map(({ dtype }) => kOrder.indexOf(dtype)));
  const found = kOrder[largest] ?? "float32";
  const hasFraction = given.some((value) => typeof value === "number" && !Number.isInteger(value));
  const hasNumber = given.some((value) => typeof value === "number" || value instanceof Varying);
  if (hasFraction && !isFloat(found)) return "float32";
  return found === "bool" && hasNumber ? "int64" : found;
}

function compare(type: string, isNegated = false): Writer {
  return (c) => {
    const names = ["input", "other"] as const;
    const dtype = type === "Equal" ? commonType(c, ...names) : orderedType(c, ...names);
    const result = c.node(type, [c.operand("input", dtype), c.operand("other", dtype)]);
    return isNegated ? c.node("Not", [result]) : result;
  };
}

function logical(type: string): Writer {
  return (c) => c.node(type, [truth(c, "input"), truth(c, "other")]);
}

/** Returns where a tensor is not zero. */
export function truth(c: Call, name: string): Name {
  return c.operand(name, "bool");
}

function ofFloats(write: (c: Call, x: Name, dtype: DType) => Name): Writer {
  return (c) => {
    const common = commonType(c, "input");
    const dtype = isFloat(common) ? common : "float32";
    return write(c, c.operand("input", dtype), dtype);
  };
}

const isfinite: Writer = ofFloats((c, x) =>
  c.node("Not", [c.node("Or", [c.node("IsNaN", [x]), c.node("IsInf", [x])])]),
);

const signbit: Writer = ofFloats((c, x, dtype) => {
  const zero = c.scalar(0, dtype);
  const inverse = c.node("Reciprocal", [x]);
  return c.node("Or", [c.node("Less", [x, zero]), c.node("Less", [inverse, zero])]);
});

const isclose: Writer = (c) => {
  const common = commonType(c, "input", "other");
  const dtype = isFloat(common) ? common : "float32";
  const [a, b] = [c.operand("input", dtype), c.operand("other", dtype)];
  const scale = c.node("Mul", [c.node("Abs", [b]), c.scalar(c.number("rtol"), dtype)]);
  const allowed = c.node("Add", [scale, c.scalar(c.number("atol"), dtype)]);
  const isNear = c.node("LessOrEqual", [c.node("Abs", [c.node("Sub", [a, b])]), allowed]);
  const isSame = c.node("Or", [c.node("Equal", [a, b]), isNear]);
  if (!c.is("equalNan")) return isSame;
  const areNaN = c.node("And", [c.node("IsNaN", [a]), c.node("IsNaN", [b])]);
  return c.node("Or", [isSame, areNaN]);
};

/** Comparisons and logic. */
export const kComparisons: Writers = {
  eq: compare("Equal"),
  ne: compare("Equal", true),
  lt: compare("Less"),
  le: compare("LessOrEqual"),
  gt: compare("Greater"),
  ge: compare("GreaterOrEqual"),
  logicalAnd: logical("And"),
  logicalOr: logical("Or"),
  logicalXor: logical("Xor"),
  logicalNot: (c) => c.node("Not", [truth(c, "input")]),
  isnan: ofFloats((c, x) => c.node("IsNaN", [x])),
  isinf: ofFloats((c, x) => c.node("IsInf", [x])),
  isfinite,
  signbit,
  isclose,
};
