// Arithmetic and elementwise functions.

import type { DType } from "edgegrad";
import type { Call, Writer, Writers } from "../call.js";
import { noForm } from "../exporter.js";
import type { Name } from "../graph.js";
import { Value } from "../values.js";

const kFloats: readonly DType[] = ["float32", "float64", "float16", "bfloat16"];

/** True for a real floating-point type. */
export function isFloat(dtype: DType): boolean {
  return kFloats.includes(dtype);
}

/** Returns the writer of a one-operand op that is a single node and is computed in the dtype of its result. */
export function unary(type: string): Writer {
  return (c) => c.node(type, [c.operand("input", c.out.dtype)]);
}

/** Returns the writer of an op of one operand that is composed of nodes. */
export function composed(write: (c: Call, x: Name) => Name): Writer {
  return (c) => write(c, c.operand("input", c.out.dtype));
}

/** Returns the operands `input` and `other` in the type of the result. */
export function operands(c: Call, first = "input", second = "other"): [Name, Name] {
  return [c.operand(first, c.out.dtype), c.operand(second, c.out.dtype)];
}

function scaleBy(c: Call, name: Name, by: number): Name {
  return by === 1 ? name : c.node("Mul", [name, c.scalar(by)]);
}

function addScaled(type: "Add" | "Sub"): Writer {
  return (c) => {
    const [a, b] = operands(c);
    if (c.out.dtype === "bool") return c.node("Or", [a, b]);
    return c.node(type, [a, scaleBy(c, b, c.number("alpha"))]);
  };
}

const div: Writer = (c) => {
  const [a, b] = operands(c);
  const mode = c.arg("roundingMode");
  if (mode === "floor") return floorDivide(c, a, b);
  const quotient = c.node("Div", [a, b]);
  // The division of integers already rounds towards zero.
  return mode === "trunc" && isFloat(c.out.dtype) ? truncate(c, quotient) : quotient;
};

function truncate(c: Call, x: Name): Name {
  return c.node("Mul", [c.node("Sign", [x]), c.node("Floor", [c.node("Abs", [x])])]);
}

function floorDivide(c: Call, a: Name, b: Name): Name {
  if (isFloat(c.out.dtype)) return c.node("Floor", [c.node("Div", [a, b])]);
  const rest = c.node("Mod", [a, b]);
  return c.node("Div", [c.node("Sub", [a, rest]), b]);
}

const remainder: Writer = (c) => {
  const [a, b] = operands(c);
  if (!isFloat(c.out.dtype)) return c.node("Mod", [a, b]);
  return c.node("Sub", [a, c.node("Mul", [floorDivide(c, a, b), b])]);
};

// Integers are rounded already.
function rounding(write: (c: Call, x: Name) => Name): Writer {
  return composed((c, x) => (isFloat(c.out.dtype) ? write(c, x) : c.node("Identity", [x])));
}

const pow: Writer = (c) => {
  const [a, b] = operands(c, "input", "exponent");
  return c.node("Pow", [a, b]);
};

const lerp: Writer = (c) => {
  const [a, b] = operands(c, "input", "end");
  const weight = c.operand("weight", c.out.dtype);
  return c.node("Add", [a, c.node("Mul", [weight, c.node("Sub", [b, a])])]);
};

function addCombined(type: "Mul" | "Div"): Writer {
  return (c) => {
    const [a, b] = operands(c, "tensor1", "tensor2");
    const value = scaleBy(c, c.node(type, [a, b]), c.number("value"));
    return c.node("Add", [c.operand("input", c.out.dtype), value]);
  };
}

const clamp: Writer = (c) => {
  let result = c.operand("input", c.out.dtype);
  if (!c.isLeftOut("min")) result = c.node("Max", [result, c.operand("min", c.out.dtype)]);
  if (!c.isLeftOut("max")) result = c.node("Min", [result, c.operand("max", c.out.dtype)]);
  return result;
};

function bound(type: "Max" | "Min", bound = "other"): Writer {
  return (c) => extreme(c, type, ...operands(c, "input", bound));
}

// The larger or smaller of two operands; of booleans these are "or" and "and".
function extreme(c: Call, type: "Max" | "Min", a: Name, b: Name): Name {
  if (c.out.dtype !== "bool") return c.node(type, [a, b]);
  return c.node(type === "Max" ? "Or" : "And", [a, b]);
}

// Where one operand is NaN, the other one.
function ignoringNaN(type: "Max" | "Min"): Writer {
  return (c) => {
    const [a, b] = operands(c);
    if (!isFloat(c.out.dtype)) return extreme(c, type, a, b);
    const inner = c.node("Where", [c.node("IsNaN", [b]), a, c.node(type, [a, b])]);
    return c.node("Where", [c.node("IsNaN", [a]), b, inner]);
  };
}

// Chooses between two tensors at each position. Readers do not support Where on booleans, which are cast to numbers.
function choose(c: Call, condition: Name, first: string, second: string): Name {
  const { dtype } = c.out;
  const own = dtype === "bool" ? "uint8" : dtype;
  const result = c.node("Where", [condition, c.operand(first, own), c.operand(second, own)]);
  return own === dtype ? result : c.graph.cast(result, dtype);
}

const maskedFill: Writer = (c) => choose(c, c.operand("mask", "bool"), "value", "input");

const where: Writer = (c) => choose(c, c.operand("condition", "bool"), "input", "other");

const round: Writer = rounding((c, x) => {
  const factor = 10 ** c.number("decimals");
  if (factor === 1) return c.node("Round", [x]);
  return c.node("Div", [c.node("Round", [c.node("Mul", [x, c.scalar(factor)])]), c.scalar(factor)]);
});

// log(b^x + b^y), from the larger operand, which does not overflow.
function logAddExp(base: number): Writer {
  return (c) => {
    const [a, b] = operands(c);
    const larger = c.node("Max", [a, b]);
    const distance = c.node("Neg", [c.node("Abs", [c.node("Sub", [a, b])])]);
    const scale = c.scalar(Math.log(base));
    const power = c.node("Exp", [c.node("Mul", [distance, scale])]);
    const rest = c.node("Div", [c.node("Log", [c.node("Add", [power, c.scalar(1)])]), scale]);
    return c.node("Add", [larger, rest]);
  };
}

function xlog(add: number): Writer {
  return (c) => {
    const [x, y] = operands(c);
    const inner = add === 0 ? y : c.node("Add", [y, c.scalar(add)]);
    const product = c.node("Mul", [x, c.node("Log", [inner])]);
    return c.node("Where", [c.node("Equal", [x, c.scalar(0)]), c.scalar(0), product]);
  };
}

const logit: Writer = (c) => {
  const eps = c.number("eps");
  let x = c.operand("input", c.out.dtype);
  if (eps >= 0) {
    x = c.node("Min", [c.node("Max", [x, c.scalar(eps)]), c.scalar(1 - eps)]);
  }
  return c.node("Log", [c.node("Div", [x, c.node("Sub", [c.scalar(1), x])])]);
};

const atan2: Writer = (c) => {
  const [y, x] = operands(c);
  const zero = c.scalar(0);
  const isLeft = c.node("Less", [x, zero]);
  const isBelow = c.node("Less", [y, zero]);
  const half = c.node("Where", [isBelow, c.scalar(-Math.PI), c.scalar(Math.PI)]);
  const angle = c.node("Add", [
    c.node("Atan", [c.node("Div", [y, x])]),
    c.node("Where", [isLeft, half, zero]),
  ]);
  const upright = c.node("Mul", [c.node("Sign", [y]), c.scalar(Math.PI / 2)]);
  return c.node("Where", [c.node("Equal", [x, zero]), upright, angle]);
};

const hypot: Writer = (c) => {
  const [a, b] = operands(c);
  const square = (x: Name) => c.node("Mul", [x, x]);
  return c.node("Sqrt", [c.node("Add", [square(a), square(b)])]);
};

const copysign: Writer = (c) => {
  const [a, b] = operands(c);
  const size = c.node("Abs", [a]);
  return c.node("Where", [isNegative(c, b), c.node("Neg", [size]), size]);
};

// Also true for -0, whose inverse is minus infinity.
function isNegative(c: Call, x: Name): Name {
  const zero = c.scalar(0);
  const inverse = c.node("Reciprocal", [x]);
  return c.node("Or", [c.node("Less", [x, zero]), c.node("Less", [inverse, zero])]);
}

const nanToNum: Writer = (c) => {
  const x = c.operand("input", c.out.dtype);
  if (!isFloat(c.out.dtype)) return c.node("Identity", [x]);
  const { largest } = limitsOf(c.out.dtype);
  const number = (name: string, other: number) =>
    c.scalar(c.isLeftOut(name) ? other : c.number(name));
  const sign = (up: number) => ({ detect_positive: up, detect_negative: 1 - up });
  const withoutNaN = c.node("Where", [c.node("IsNaN", [x]), number("nan", 0), x]);
  const below = c.node("Where", [
    c.node("IsInf", [x], sign(1)),
    number("posinf", largest),
    withoutNaN,
  ]);
  return c.node("Where", [c.node("IsInf", [x], sign(0)), number("neginf", -largest), below]);
};

/** Returns the largest number of a floating-point type. */
export function limitsOf(dtype: DType): { readonly largest: number } {
  if (dtype === "float16") return { largest: 65504 };
  return { largest: dtype === "float64" ? Number.MAX_VALUE : 3.4028234663852886e38 };
}

const heaviside: Writer = (c) => {
  const [x, values] = operands(c, "input", "values");
  const step = c.graph.cast(c.node("Greater", [x, c.scalar(0)]), c.out.dtype);
  return c.node("Where", [c.node("Equal", [x, c.scalar(0)]), values, step]);
};

const sinc: Writer = composed((c, x) => {
  const angle = c.node("Mul", [x, c.scalar(Math.PI)]);
  const isZero = c.node("Equal", [x, c.scalar(0)]);
  return c.node("Where", [isZero, c.scalar(1), c.node("Div", [c.node("Sin", [angle]), angle])]);
});

const entr: Writer = composed((c, x) => {
  const zero = c.scalar(0);
  const inside = c.node("Neg", [c.node("Mul", [x, c.node("Log", [x])])]);
  const outside = c.node("Where", [c.node("Equal", [x, zero]), zero, c.scalar(-Infinity)]);
  return c.node("Where", [c.node("Greater", [x, zero]), inside, outside]);
});

// The cumulative distribution function of the normal distribution.
function ndtr(c: Call, x: Name): Name {
  const scaledDown = c.node("Mul", [x, c.scalar(Math.SQRT1_2)]);
  return c.node("Mul", [c.node("Add", [c.node("Erf", [scaledDown]), c.scalar(1)]), c.scalar(0.5)]);
}

function bitwise(type: string): Writer {
  return (c) => {
    const isBool = c.out.dtype === "bool";
    if (!isBool && c.opset < 18) noForm("whole numbers need opset 18");
    return c.node(isBool ? type : `Bitwise${type}`, operands(c));
  };
}

const bitwiseNot: Writer = (c) => {
  const x = c.operand("input", c.out.dtype);
  if (c.out.dtype === "bool") return c.node("Not", [x]);
  if (c.opset >= 18) return c.node("BitwiseNot", [x]);
  return c.node("Sub", [c.scalar(-1), x]);
};

function shift(type: "Mul" | "Div"): Writer {
  return (c) => {
    const [a, b] = operands(c);
    const power = c.graph.cast(
      c.node("Pow", [c.scalar(2, "float64"), c.graph.cast(b, "float64")]),
      c.out.dtype,
    );
    return type === "Mul" ? c.node("Mul", [a, power]) : floorDivide(c, a, power);
  };
}

/** Writes a copy of the input, in the type of the result. */
export const same: Writer = (c) => {
  const value = c.value("input");
  return value.dtype === c.out.dtype
    ? c.node("Identity", [c.in("input")])
    : c.in("input", c.out.dtype);
};

const neg: Writer = unary("Neg");
const sign: Writer = unary("Sign");

/** Elementwise ops whose results are numbers. */
export const kElementwise: Writers = {
  add: addScaled("Add"),
  sub: addScaled("Sub"),
  mul: (c) => (c.out.dtype === "bool" ? c.node("And", operands(c)) : c.node("Mul", operands(c))),
  div,
  neg,
  reciprocal: unary("Reciprocal"),
  square: composed((c, x) => c.node("Mul", [x, x])),
  fmod: (c) => c.node("Mod", operands(c), { fmod: 1 }),
  remainder,
  floorDivide: (c) => floorDivide(c, ...operands(c)),
  lerp,
  addcmul: addCombined("Mul"),
  addcdiv: addCombined("Div"),
  where,
  maskedFill,
  maximum: bound("Max"),
  minimum: bound("Min"),
  fmax: ignoringNaN("Max"),
  fmin: ignoringNaN("Min"),
  clamp,
  clampMin: bound("Max", "min"),
  clampMax: bound("Min", "max"),
  heaviside,
  nanToNum,
  copysign,
  abs: unary("Abs"),
  sign,
  sgn: sign,
  floor: rounding((c, x) => c.node("Floor", [x])),
  ceil: rounding((c, x) => c.node("Ceil", [x])),
  round,
  trunc: rounding(truncate),
  frac: composed((c, x) => c.node("Sub", [x, truncate(c, x)])),
  exp: unary("Exp"),
  exp2: composed((c, x) => c.node("Pow", [c.scalar(2), x])),
  expm1: composed((c, x) => c.node("Sub", [c.node("Exp", [x]), c.scalar(1)])),
  log: unary("Log"),
  log2: composed((c, x) => c.node("Mul", [c.node("Log", [x]), c.scalar(Math.LOG2E)])),
  log10: composed((c, x) => c.node("Mul", [c.node("Log", [x]), c.scalar(Math.LOG10E)])),
  log1p: composed((c, x) => c.node("Log", [c.node("Add", [x, c.scalar(1)])])),
  sqrt: unary("Sqrt"),
  rsqrt: composed((c, x) => c.node("Reciprocal", [c.node("Sqrt", [x])])),
  pow,
  logaddexp: logAddExp(Math.E),
  logaddexp2: logAddExp(2),
  xlogy: xlog(0),
  xlog1py: xlog(1),
  entr,
  logit,
  sin: unary("Sin"),
  cos: unary("Cos"),
  tan: unary("Tan"),
  asin: unary("Asin"),
  acos: unary("Acos"),
  atan: unary("Atan"),
  atan2,
  hypot,
  sinc,
  sinh: unary("Sinh"),
  cosh: unary("Cosh"),
  tanh: unary("Tanh"),
  asinh: unary("Asinh"),
  acosh: unary("Acosh"),
  atanh: unary("Atanh"),
  erf: unary("Erf"),
  erfc: composed((c, x) => c.node("Sub", [c.scalar(1), c.node("Erf", [x])])),
  ndtr: composed(ndtr),
  logNdtr: composed((c, x) => c.node("Log", [ndtr(c, x)])),
  bitwiseAnd: bitwise("And"),
  bitwiseOr: bitwise("Or"),
  bitwiseXor: bitwise("Xor"),
  bitwiseNot,
  bitwiseLeftShift: shift("Mul"),
  bitwiseRightShift: shift("Div"),
  // Copies and conversions.
  alias: same,
  clone: same,
  contiguous: same,
  detach: same,
  real: same,
  conj: same,
  toDtype: same,
  copy_: (c) => {
    const source = c.operand("source", c.out.dtype);
    return c.node("Expand", [source, c.exporter.shape(c.out.sizes())]);
  },
  fill_: (c) => {
    const value = c.arg("value");
    const source =
      value instanceof Value ? c.as(value, c.out.dtype) : c.operand("value", c.out.dtype);
    return c.node("Expand", [source, c.exporter.shape(c.out.sizes())]);
  },
  zero_: (c) => c.node("Expand", [c.scalar(0), c.exporter.shape(c.out.sizes())]),
};
