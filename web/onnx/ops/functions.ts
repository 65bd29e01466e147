// Elementwise functions of one tensor.

import * as eg from "edgegrad";
import { combine } from "../values/host_math.js";
import { number, tensor } from "../values/value.js";
import { flag, ignored, type Op, type Ops, op } from "./op.js";

function unary(
  run: (x: eg.Tensor) => eg.Tensor,
  host?: (x: number) => number,
  more: Partial<Op> = {},
): Op {
  return op({
    attributes: { consumed_inputs: ignored },
    run: ([x]) => run(tensor(x)),
    ...(host && { host: ([x]) => x && combine([x], host as never) }),
    ...more,
  });
}

// Ties round to even.
function roundEven(x: number): number {
  const near = Math.round(x);
  return Math.abs(x % 1) === 0.5 && near % 2 !== 0 ? near - 1 : near;
}

// Inclusive or exclusive cumulative sums or products; `none` is the first element of an exclusive one.
function cumulative(run: typeof eg.cumsum, none: number): Op {
  return op({
    attributes: { exclusive: flag(false), reverse: flag(false) },
    settings: [1],
    run: ([input, axis], { exclusive, reverse }) => {
      const x = tensor(input);
      const dim = number(axis) ?? 0;
      const count = x.shape.at(dim);
      const turned = (tensor: eg.Tensor) => (reverse ? eg.flip(tensor, [dim]) : tensor);
      const all = run(turned(x), dim, { dtype: x.dtype });
      if (!exclusive || !count) return turned(all);
      const first = eg.fullLike(eg.narrow(all, dim, 0, 1), none);
      return turned(eg.cat([first, eg.narrow(all, dim, 0, count - 1)], dim));
    },
  });
}

export const kFunctions: Ops = {
  Abs: unary(eg.abs, Math.abs, { wraps: true }),
  Acos: unary(eg.acos),
  Acosh: unary(eg.acosh),
  Asin: unary(eg.asin),
  Asinh: unary(eg.asinh),
  Atan: unary(eg.atan),
  Atanh: unary(eg.atanh),
  BitwiseNot: unary(eg.bitwiseNot, undefined, { since: 18, wraps: true }),
  Ceil: unary(eg.ceil, Math.ceil),
  Cos: unary(eg.cos),
  Cosh: unary(eg.cosh),
  Erf: unary(eg.erf),
  Exp: unary(eg.exp, Math.exp),
  Floor: unary(eg.floor, Math.floor),
  IsInf: op({
    since: 10,
    attributes: { detect_negative: flag(true), detect_positive: flag(true) },
    ownTypes: true,
    run: ([input], { detect_negative, detect_positive }) => {
      const x = tensor(input);
      if (detect_negative && detect_positive) return eg.isinf(x);
      if (detect_negative) return eg.isneginf(x);
      return detect_positive ? eg.isposinf(x) : eg.zerosLike(x).to("bool");
    },
  }),
  IsNaN: unary(eg.isnan, undefined, { ownTypes: true }),
  Log: unary(eg.log, Math.log),
  Neg: unary(eg.neg, (x) => -x, { wraps: true }),
  Not: op({
    run: ([x]) => eg.logicalNot(tensor(x)),
    host: ([x]) => x && combine([x], (flag) => !flag, "bool"),
  }),
  Reciprocal: unary(eg.reciprocal, (x) => 1 / x),
  Round: unary((x) => eg.round(x), roundEven),
  Sign: unary(eg.sign, Math.sign),
  Sin: unary(eg.sin),
  Sinh: unary(eg.sinh),
  Sqrt: unary(eg.sqrt, Math.sqrt),
  Tan: unary(eg.tan),
  Tanh: unary(eg.tanh),
  Det: op({ since: 11, run: ([x]) => eg.det(tensor(x)) }),
  CumSum: { since: 11, ...cumulative(eg.cumsum, 0) },
  CumProd: { since: 26, ...cumulative(eg.cumprod, 1) },
};
