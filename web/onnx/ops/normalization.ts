// Batch, layer, group and instance normalization.

import * as eg from "edgegrad";
import { chained } from "../values/chained.js";
import { tensor, tensorOrNull, type Value } from "../values/value.js";
import { axisOf, range } from "./axes.js";
import { flag, float, ignored, int, maybeInts, type Ops, op } from "./op.js";

const batchNormalization = op({
  attributes: {
    epsilon: float(1e-5),
    momentum: float(0.9),
    training_mode: flag(false),
    spatial: ignored,
    is_test: ignored,
    consumed_inputs: ignored,
  },
  updates: [3, 4],
  weights: [1, 2],
  run: ([input, scale, bias, mean, variance], given, { training, version }) => {
    const [x, weight, added] = [tensor(input), tensor(scale), tensor(bias)];
    // They get no gradients, even where an exporter has merged them with parameters of the same values.
    const [runningMean, runningVar] = [tensor(mean).detach(), tensor(variance).detach()];
    const options = { weight, bias: added, eps: given.epsilon };
    const isTraining = version >= 14 && given.training_mode;
    if (!training && !isTraining) return eg.batchNorm(x, runningMean, runningVar, options);
    // As in PyTorch, training updates the model's own statistics; in a graph exported for training they are outputs.
    if (!isTraining) {
      return eg.batchNorm(x, runningMean, runningVar, {
        ...options,
        training: true,
        momentum: 1 - given.momentum,
      });
    }
    const dims = range(x.ndim).filter((axis) => axis !== 1);
    const { momentum } = given;
    const runningValue = (old: eg.Tensor, fresh: eg.Tensor) =>
      old
        .mul(momentum)
        .add(fresh.mul(1 - momentum))
        .detach();
    return [
      eg.batchNorm(x, null, null, { ...options, training: true }),
      runningValue(runningMean, eg.mean(x, dims)),
      runningValue(runningVar, eg.var(x, dims, { correction: 0 })),
    ];
  },
});

/** Returns x normalized over its last axes, the mean, and the reciprocal of the standard deviation. */
function layerNormalization(
  [input, scale, bias]: readonly Value[],
  axis: number,
  epsilon: number,
  wanted: readonly boolean[],
): Value[] {
  const x = tensor(input);
  const from = axisOf(axis, x.ndim);
  const shape = x.shape.slice(from);
  const [weight, added] = [tensorOrNull(scale), tensorOrNull(bias)];
  const fits = (operand: eg.Tensor | null) =>
    operand === null || operand.shape.join() === shape.join();
  const isWhole = fits(weight) && fits(added);
  const result = isWhole
    ? eg.layerNorm(x, shape, { weight, bias: added, eps: epsilon })
    : affine(eg.layerNorm(x, shape, { eps: epsilon }), weight, added);
  if (!wanted[1] && !wanted[2]) return [result];
  const dims = range(x.ndim).slice(from);
  const mean = eg.mean(x, dims, { keepdim: true });
  const variance = eg.var(x, dims, { correction: 0, keepdim: true });
  return [result, mean, eg.rsqrt(variance.add(epsilon))];
}

function affine(x: eg.Tensor, weight: eg.Tensor | null, bias: eg.Tensor | null): eg.Tensor {
  const scaled = weight === null ? x : x.mul(weight);
  return bias === null ? scaled : scaled.add(bias);
}

/** Returns x divided by its root mean square over the axes from `axis` on, times a scale. */
export function rmsNormalization(
  x: eg.Tensor,
  scale: eg.Tensor,
  axis: number,
  epsilon: number,
): eg.Tensor {
  const shape = x.shape.slice(axisOf(axis, x.ndim));
  const isWhole = scale.shape.join() === shape.join();
  if (isWhole) return eg.rmsNorm(x, shape, { weight: scale, eps: epsilon });
  return eg.rmsNorm(x, shape, { eps: epsilon }).mul(scale);
}

// Before version 21 scale and bias are per group.
function groupNormalization(
  [input, scale, bias]: readonly Value[],
  groups: number,
  epsilon: number,
): eg.Tensor {
  const x = tensor(input);
  const channels = x.shape[1] as number;
  const each = (value: Value) => {
    const numbers = tensor(value);
    return numbers.shape[0] === channels
      ? numbers
      : eg.repeatInterleave(numbers, channels / groups);
  };
  return eg.groupNorm(x, groups, { weight: each(scale), bias: each(bias), eps: epsilon });
}

function localResponse(
  x: eg.Tensor,
  size: number,
  alpha: number,
  beta: number,
  bias: number,
): eg.Tensor {
  const before = Math.floor((size - 1) / 2);
  return chained(
    x.reshape([x.shape[0] as number, 1, x.shape[1] as number, -1]),
    (y) => eg.pad(y, [0, 0, before, size - 1 - before]),
    (y) => y.square(),
    (y) => eg.avgPool2d(y, [size, 1], { stride: 1 }),
    // The mean of the window, times its size, times alpha / size.
    (y) => y.mul(alpha),
    (y) => y.add(bias),
    (y) => eg.pow(y, beta),
    (y) => x.div(y.reshape(x.shape)),
  );
}

const kLayer = { axis: int(-1), epsilon: float(1e-5), stash_type: ignored };

/** RMS normalization, which ONNX Runtime has in its own domain too. */
export const simplifiedLayerNormalization = op({
  attributes: kLayer,
  weights: [1],
  run: ([x, scale], { axis, epsilon }) => rmsNormalization(tensor(x), tensor(scale), axis, epsilon),
});

export const kNormalization: Ops = {
  BatchNormalization: batchNormalization,
  SimplifiedLayerNormalization: simplifiedLayerNormalization,
  InstanceNormalization: op({
    attributes: { epsilon: float(1e-5), consumed_inputs: ignored },
    weights: [1, 2],
    run: ([x, scale, bias], { epsilon }) =>
      eg.instanceNorm(tensor(x), { weight: tensor(scale), bias: tensor(bias), eps: epsilon }),
  }),
  LayerNormalization: op({
    since: 1,
    attributes: kLayer,
    weights: [1, 2],
    run: (inputs, { axis, epsilon }, { wanted }) =>
      layerNormalization(inputs, axis, epsilon, wanted),
  }),
  RMSNormalization: { ...simplifiedLayerNormalization, since: 23 },
  GroupNormalization: op({
    since: 18,
    attributes: { epsilon: float(1e-5), num_groups: int(1), stash_type: ignored },
    weights: [1, 2],
    run: (inputs, { epsilon, num_groups }) => groupNormalization(inputs, num_groups, epsilon),
  }),
  LRN: op({
    attributes: { alpha: float(1e-4), beta: float(0.75), bias: float(1), size: int(1) },
    run: ([x], { alpha, beta, bias, size }) => localResponse(tensor(x), size, alpha, beta, bias),
  }),
  LpNormalization: op({
    attributes: { axis: int(-1), p: int(2) },
    run: ([input], { axis, p }) => {
      const x = tensor(input);
      const length = eg.norm(x, p, [axis], { keepdim: true });
      return eg.where(length.eq(0), eg.zerosLike(x), x.div(length));
    },
  }),
  MeanVarianceNormalization: op({
    since: 9,
    attributes: { axes: maybeInts },
    run: ([input], { axes }) => {
      const x = tensor(input);
      const dims = [...(axes ?? [0, 2, 3])];
      const centered = x.sub(eg.mean(x, dims, { keepdim: true }));
      const deviation = eg.sqrt(eg.mean(centered.square(), dims, { keepdim: true }));
      return centered.div(deviation.add(1e-9));
    },
  }),
};
