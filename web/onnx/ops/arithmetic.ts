// Arithmetic, comparison and logic, element by element with broadcasting.

import * as eg from "edgegrad";
import { Host, isTexts } from "../values/host.js";
import { broadcastShape, combine } from "../values/host_math.js";
import { isInteger } from "../values/types.js";
import { elementType, operand, shapeOf, tensor, type Value } from "../values/value.js";
import { range } from "./axes.js";
import { flag, ignored, maybeInt, type Op, type Operand, type Ops, op, string } from "./op.js";

// Before version 7 the second operand broadcasts only on request, aligned at an axis.
const kBroadcast = { axis: maybeInt, broadcast: flag(false), consumed_inputs: ignored };

type Numbers = (...values: number[]) => number | boolean;
type Tensors = (a: Operand, b: Operand) => eg.Tensor;

/** Returns two operands of which at least one is a tensor. */
function pair(a: Value, b: Value): [Operand, Operand] {
  const rank = Math.max(shapeOf(a).length, shapeOf(b).length);
  const first = a instanceof eg.Tensor ? a : operand(a, b instanceof eg.Tensor ? b.ndim : -1);
  const second = first instanceof eg.Tensor ? operand(b, first.ndim) : tensor(b);
  return rank === 0 && !(first instanceof eg.Tensor) ? [tensor(a), second] : [first, second];
}

function align(value: Value, rank: number, axis: number | undefined): Value {
  if (axis === undefined) return value;
  const x = tensor(value);
  const after = rank - axis - x.ndim;
  return after <= 0 ? x : x.reshape([...x.shape, ...range(after).map(() => 1)]);
}

function binary(
  run: Tensors,
  host: Numbers,
  more: Omit<Partial<Op>, "run" | "host" | "attributes" | "constant"> & { hostType?: "bool" } = {},
): Op {
  const { hostType, ...rest } = more;
  return op({
    attributes: kBroadcast,
    run: ([a, b], { axis }) => run(...pair(a, align(b, shapeOf(a).length, axis))),
    host: (inputs, { axis }) =>
      axis === undefined ? combine(inputs as Host<number>[], host, hostType) : undefined,
    ...rest,
  });
}

const kWraps = { wraps: true } as const;
const kTruth = { hostType: "bool", ownTypes: true } as const;

const areIntegers = (a: Operand, b: Operand) => {
  const { dtype } = (a instanceof eg.Tensor ? a : b) as eg.Tensor;
  return isInteger(dtype as never);
};

// Integer division truncates toward zero.
const divide: Tensors = (a, b) =>
  areIntegers(a, b) ? eg.div(a, b, { roundingMode: "trunc" }) : eg.div(a, b);

function power(base: Value, exponent: Value): eg.Tensor {
  const [a, b] = pair(base, exponent);
  const type = base instanceof eg.Tensor ? base.dtype : null;
  const areMixed = b instanceof eg.Tensor && a instanceof eg.Tensor && a.dtype !== b.dtype;
  const isFractional =
    type !== null && isInteger(type as never) && !isInteger(elementType(exponent));
  if (!areMixed && !isFractional) return eg.pow(a, b);
  const precise = (operand: Operand) =>
    operand instanceof eg.Tensor ? operand.to("float64") : operand;
  const wanted = type ?? "float32";
  return (
    isInteger(wanted as never) ? eg.pow(precise(a), precise(b)) : eg.pow(a, castTo(b, wanted))
  ).to(wanted);
}

const castTo = (operand: Operand, dtype: eg.DType) =>
  operand instanceof eg.Tensor ? operand.to(dtype) : operand;

/** An op of any number of tensors. */
function variadic(run: (a: Operand, b: Operand) => eg.Tensor, host: Numbers, mean = false): Op {
  return op({
    attributes: { consumed_inputs: ignored },
    wraps: true,
    run: (inputs) => {
      const [first, ...rest] = inputs;
      const sum = rest.reduce<Value>((all, next) => run(...pair(all, next)), first);
      const result = tensor(sum);
      return mean ? result.div(inputs.length) : result;
    },
    host: (inputs) => (mean ? undefined : combine(inputs, host)),
  });
}

const shift = op({
  since: 11,
  attributes: { direction: string("") },
  wraps: true,
  run: ([a, b], { direction }) => {
    const [x, by] = pair(a, b);
    if (direction === "LEFT") return eg.bitwiseLeftShift(x, by);
    return eg.bitwiseRightShift(x, by);
  },
});

const modulo = (x: number, y: number) => x - y * Math.floor(x / y);

export const kArithmetic: Ops = {
  Add: binary(
    (a, b) => eg.add(a, b),
    (a, b) => (a as number) + (b as number),
    kWraps,
  ),
  Sub: binary(
    (a, b) => eg.sub(a, b),
    (a, b) => (a as number) - (b as number),
    kWraps,
  ),
  Mul: binary(
    (a, b) => eg.mul(a, b),
    (a, b) => (a as number) * (b as number),
    kWraps,
  ),
  Div: op({
    attributes: kBroadcast,
    wraps: true,
    run: ([a, b], { axis }) => divide(...pair(a, align(b, shapeOf(a).length, axis))),
    host: (inputs) =>
      inputs[1]?.data.includes(0)
        ? undefined
        : combine(inputs, (a, b) => (a as number) / (b as number)),
  }),
  Pow: op({
    attributes: kBroadcast,
    wraps: true,
    run: ([a, b], { axis }) => power(a, align(b, shapeOf(a).length, axis)),
    host: (inputs) => combine(inputs, (a, b) => (a as number) ** (b as number)),
  }),
  Mod: op({
    since: 10,
    attributes: { fmod: flag(false) },
    wraps: true,
    run: ([a, b], { fmod }) => (fmod ? eg.fmod(...pair(a, b)) : eg.remainder(...pair(a, b))),
    host: (inputs, { fmod }) =>
      inputs[1]?.data.includes(0)
        ? undefined
        : combine(inputs, (a, b) =>
            fmod ? (a as number) % (b as number) : modulo(a as number, b as number),
          ),
  }),
  Max: variadic((a, b) => eg.maximum(a as eg.Tensor, b as eg.Tensor), Math.max),
  Min: variadic((a, b) => eg.minimum(a as eg.Tensor, b as eg.Tensor), Math.min),
  Sum: variadic(
    (a, b) => eg.add(a, b),
    (...values) => values.reduce((a, b) => a + b),
  ),
  Mean: variadic(
    (a, b) => eg.add(a, b),
    () => 0,
    true,
  ),
  Equal: op({
    attributes: kBroadcast,
    ownTypes: true,
    run: ([a, b], { axis }): Value =>
      isTexts(a) && isTexts(b)
        ? equalTexts(a, b)
        : eg.eq(...pair(a, align(b, shapeOf(a).length, axis))),
    host: (inputs) => combine(inputs, (a, b) => a === b, "bool"),
  }),
  Greater: binary(
    (a, b) => eg.gt(a, b),
    (a, b) => (a as number) > (b as number),
    kTruth,
  ),
  Less: binary(
    (a, b) => eg.lt(a, b),
    (a, b) => (a as number) < (b as number),
    kTruth,
  ),
  GreaterOrEqual: binary(
    (a, b) => eg.ge(a, b),
    (a, b) => (a as number) >= (b as number),
    { ...kTruth, since: 12 },
  ),
  LessOrEqual: binary(
    (a, b) => eg.le(a, b),
    (a, b) => (a as number) <= (b as number),
    { ...kTruth, since: 12 },
  ),
  And: binary(
    (a, b) => eg.logicalAnd(a, b),
    (a, b) => Boolean(a && b),
    kTruth,
  ),
  Or: binary(
    (a, b) => eg.logicalOr(a, b),
    (a, b) => Boolean(a || b),
    kTruth,
  ),
  Xor: binary(
    (a, b) => eg.logicalXor(a, b),
    (a, b) => a !== b,
    kTruth,
  ),
  BitwiseAnd: binary(
    (a, b) => eg.bitwiseAnd(a, b),
    (a, b) => Number(BigInt(a as number) & BigInt(b as number)),
    { since: 18 },
  ),
  BitwiseOr: binary(
    (a, b) => eg.bitwiseOr(a, b),
    (a, b) => Number(BigInt(a as number) | BigInt(b as number)),
    { since: 18 },
  ),
  BitwiseXor: binary(
    (a, b) => eg.bitwiseXor(a, b),
    (a, b) => Number(BigInt(a as number) ^ BigInt(b as number)),
    { since: 18 },
  ),
  BitShift: shift,
  Where: op({
    since: 9,
    run: ([condition, a, b]) => {
      const shape = broadcastShape(shapeOf(condition), shapeOf(a), shapeOf(b));
      const result = eg.where(tensor(condition), ...chosen(a, b));
      return result.shape.length === shape.length ? result : result.expand(shape);
    },
    host: (inputs) =>
      combine(inputs, (condition, a, b) => (condition ? a : b) as number, inputs[1]?.type),
  }),
};

// Strings are compared by the indices of their first occurrences.
function equalTexts(a: Host<string>, b: Host<string>): Host | undefined {
  const places = new Map([...a.data, ...b.data].map((text, i) => [text, i]));
  const numbered = (texts: Host<string>) =>
    new Host(
      "int64",
      texts.shape,
      texts.data.map((text) => places.get(text) as number),
    );
  return combine([numbered(a), numbered(b)], (x, y) => x === y, "bool");
}

// A plain number would not determine the dtype of the result.
function chosen(a: Value, b: Value): [Operand, Operand] {
  if (a instanceof eg.Tensor && b instanceof eg.Tensor) return [a, b];
  if (a instanceof eg.Tensor) return [a, operand(b, a.ndim)];
  return b instanceof eg.Tensor ? [operand(a, b.ndim), b] : [tensor(a), tensor(b)];
}
