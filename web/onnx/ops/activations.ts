// Activation functions.

import * as eg from "edgegrad";
import { combine } from "../values/host_math.js";
import { isInteger, rangeOf } from "../values/types.js";
import { elementType, number, tensor, type Value } from "../values/value.js";
import { axisOf } from "./axes.js";
import { float, ignored, maybeFloat, maybeInt, type Op, type Ops, op, string } from "./op.js";

/** The slope of eg.hardsigmoid(). */
const kSixth = 1 / 6;
const isNear = (a: number, b: number) => Math.abs(a - b) < 1e-6;

// Before version 13, all axes from `axis` on are flattened into one.
function overAxis(run: (x: eg.Tensor, dim: number) => eg.Tensor): Op {
  return op({
    attributes: { axis: maybeInt },
    run: ([input], { axis }, { version }) => {
      const x = tensor(input);
      if (version >= 13) return run(x, axis ?? -1);
      const from = axisOf(axis ?? 1, x.ndim + 1);
      if (from >= x.ndim - 1) return run(x, -1);
      return run(eg.flatten(x, from), -1).reshape(x.shape);
    },
  });
}

function hardmax(x: eg.Tensor, dim: number): eg.Tensor {
  const first = eg.argmax(x, dim, { keepdim: true });
  return eg.zerosLike(x).scatter(dim, first, 1);
}

// min and max are attributes before version 11, and inputs since then.
const clip = op({
  attributes: { min: maybeFloat, max: maybeFloat, consumed_inputs: ignored },
  settings: [1, 2],
  run: ([input, low, high], attributes) => {
    const x = tensor(input);
    const [min, max] = [bound(low, x) ?? attributes.min, bound(high, x) ?? attributes.max];
    if (min === undefined && max === undefined) return x;
    if (min instanceof eg.Tensor || max instanceof eg.Tensor)
      return clampBetween(x, min ?? null, max ?? null);
    const type = elementType(input);
    const [least, most] = isInteger(type) ? rangeOf(type) : [-Infinity, Infinity];
    if (max === undefined) return eg.clamp(x, min ?? least, null);
    return eg.clamp(x, min ?? null, Number(max) > most ? most : max);
  },
  host: ([x, low, high], { min, max }) => {
    const [least, most] = [number(low) ?? min ?? -Infinity, number(high) ?? max ?? Infinity];
    return x && combine([x], (value) => Math.min(Math.max(value as number, least), most));
  },
});

// A limit that the graph computes stays a tensor, so that it gets its gradient.
function bound(value: Value, { dtype }: eg.Tensor): eg.Tensor | number | undefined {
  if (!(value instanceof eg.Tensor)) return number(value);
  return (value.numel === 1 ? value.reshape([]) : value).to(dtype);
}

function clampBetween(
  x: eg.Tensor,
  min: eg.Tensor | number | null,
  max: eg.Tensor | number | null,
): eg.Tensor {
  const limit = (limit: eg.Tensor | number | null) =>
    typeof limit === "number" ? eg.full([], limit, { dtype: x.dtype, device: x.device }) : limit;
  return eg.clamp(x, limit(min), limit(max));
}

/** Returns a gaussian error linear unit. */
export function gelu(x: eg.Tensor, approximate: string): eg.Tensor {
  return eg.gelu(x, { approximate: approximate === "tanh" ? "tanh" : "none" });
}

export const kActivations: Ops = {
  Celu: op({
    since: 12,
    attributes: { alpha: float(1) },
    run: ([x], { alpha }) => eg.celu(tensor(x), alpha),
  }),
  Clip: clip,
  Elu: op({
    attributes: { alpha: float(1), consumed_inputs: ignored },
    run: ([x], { alpha }) => eg.elu(tensor(x), alpha),
  }),
  Gelu: op({
    since: 20,
    attributes: { approximate: string("none") },
    run: ([x], { approximate }) => gelu(tensor(x), approximate),
  }),
  HardSigmoid: op({
    attributes: { alpha: float(0.2), beta: float(0.5), consumed_inputs: ignored },
    run: ([input], { alpha, beta }) => {
      const x = tensor(input);
      if (isNear(alpha, kSixth) && beta === 0.5) return eg.hardsigmoid(x);
      return eg.clamp(x.mul(alpha).add(beta), 0, 1);
    },
  }),
  HardSwish: op({ since: 14, run: ([x]) => eg.hardswish(tensor(x)) }),
  Hardmax: overAxis(hardmax),
  LeakyRelu: op({
    attributes: { alpha: float(0.01), consumed_inputs: ignored },
    run: ([x], { alpha }) => eg.leakyRelu(tensor(x), alpha),
  }),
  LogSoftmax: overAxis((x, dim) => eg.logSoftmax(x, dim)),
  Mish: op({ since: 18, run: ([x]) => eg.mish(tensor(x)) }),
  PRelu: op({
    attributes: { consumed_inputs: ignored },
    weights: [1],
    run: ([input, slope], _, { version }) => {
      const x = tensor(input);
      const factor = tensor(slope);
      // Before version 7 there is one slope per channel.
      const isPerChannel = version < 7 && factor.ndim === 1 && x.ndim > 2;
      const below = x.mul(
        isPerChannel ? factor.reshape([-1, ...x.shape.slice(2).map(() => 1)]) : factor,
      );
      return eg.where(x.ge(0), x, below);
    },
  }),
  Relu: op({ attributes: { consumed_inputs: ignored }, run: ([x]) => eg.relu(tensor(x)) }),
  Selu: op({
    attributes: { alpha: float(1.6732632), gamma: float(1.050701), consumed_inputs: ignored },
    run: ([x], { alpha, gamma }) => {
      const isUsual = isNear(alpha, 1.6732632) && isNear(gamma, 1.050701);
      return isUsual ? eg.selu(tensor(x)) : eg.elu(tensor(x), alpha).mul(gamma);
    },
  }),
  Shrink: op({
    since: 9,
    attributes: { bias: float(0), lambd: float(0.5) },
    run: ([input], { bias, lambd }) => {
      const x = tensor(input);
      const low = eg.where(x.lt(-lambd), x.add(bias), 0);
      return eg.where(x.gt(lambd), x.sub(bias), low);
    },
  }),
  Sigmoid: op({ attributes: { consumed_inputs: ignored }, run: ([x]) => eg.sigmoid(tensor(x)) }),
  Softmax: overAxis((x, dim) => eg.softmax(x, dim)),
  Softplus: op({ run: ([x]) => eg.softplus(tensor(x)) }),
  Softsign: op({ run: ([x]) => eg.softsign(tensor(x)) }),
  Swish: op({
    since: 24,
    attributes: { alpha: float(1) },
    run: ([input], { alpha }) => {
      const x = tensor(input);
      return alpha === 1 ? eg.silu(x) : eg.sigmoid(x.mul(alpha)).mul(x);
    },
  }),
  ThresholdedRelu: op({
    since: 10,
    attributes: { alpha: float(1) },
    run: ([x], { alpha }) => eg.threshold(tensor(x), alpha, 0),
  }),
};
