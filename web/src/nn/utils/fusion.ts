// Batch normalization in evaluation mode is a factor and an offset per channel, which the weights of the layer before can absorb.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { boolean, number, Rule } from "../../arguments/rule.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { add, mul, reshape, rsqrt, sub } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Convolution } from "../conv/convolution.js";
import { Linear } from "../linear/linear.js";
import { ChannelNorm } from "../norm/channel_norm.js";
import { type Parameter, parameterFrom } from "../parameter.js";

const kTranspose = {
  /** The weight belongs to a transposed convolution; default false. */
  transpose: boolean.or(false),
};

const bn = new Rule<ChannelNorm>(
  "a BatchNorm with running statistics",
  (value) => value instanceof ChannelNorm && value.running_mean !== null,
);

const kConvArguments = {
  conv: new Rule<Convolution>("a convolution", (value) => value instanceof Convolution),
  bn,
  ...kTranspose,
};

const kLinearArguments = {
  linear: new Rule<Linear>("a Linear", (value) => value instanceof Linear),
  bn,
};

/** Returns a copy of a convolution that also does the work of the BatchNorm after it; both must be in evaluation mode. */
export function fuseConvBnEval<Conv extends Convolution>(
  conv: Conv,
  ...rest: [bn: ChannelNorm, ...rest: Arguments<[transpose: boolean], { transpose?: boolean }>]
): Conv {
  const where = "fuseConvBnEval";
  const own = readArguments(where, kConvArguments, [conv, ...rest]);
  checkEvaluation(where, own.conv, own.bn);
  const fused = conv.clone();
  const [weight, bias] = fuseConvBnWeights(
    fused.weight,
    fused.bias,
    ...numbersOf(own.bn),
    own.transpose,
  );
  return replaced(fused, weight, bias);
}

/** Returns a copy of a Linear that also does the work of the BatchNorm after it; both must be in evaluation mode. */
export function fuseLinearBnEval<L extends Linear>(linear: L, ...rest: [bn: ChannelNorm]): L {
  const where = "fuseLinearBnEval";
  const own = readArguments(where, kLinearArguments, [linear, ...rest]);
  checkEvaluation(where, own.linear, own.bn);
  const fused = linear.clone();
  const [weight, bias] = fuseLinearBnWeights(fused.weight, fused.bias, ...numbersOf(own.bn));
  return replaced(fused, weight, bias);
}

function replaced<Layer extends Convolution | Linear>(
  layer: Layer,
  weight: Parameter,
  bias: Parameter,
): Layer {
  layer.weight.dispose();
  layer.bias?.dispose();
  return Object.assign(layer, { weight, bias });
}

const kLinearWeights = {
  linearW: tensorRule,
  linearB: tensorRule.orNull(),
  bnRm: tensorRule,
  bnRv: tensorRule,
  bnEps: number,
  bnW: tensorRule.orNull(),
  bnB: tensorRule.orNull(),
};

/** Returns weight and bias of a Linear that include the running mean and variance, eps, weight and bias of a BatchNorm. */
export function fuseLinearBnWeights(
  linearW: Tensor,
  linearB: Tensor | null,
  bnRm: Tensor,
  bnRv: Tensor,
  bnEps: number,
  bnW: Tensor | null,
  bnB: Tensor | null,
  ...rest: []
): [weight: Parameter, bias: Parameter] {
  const given = [linearW, linearB, bnRm, bnRv, bnEps, bnW, bnB, ...rest];
  return fused(readArguments("fuseLinearBnWeights", kLinearWeights, given), 0);
}

const kConvWeights = {
  convW: tensorRule,
  convB: tensorRule.orNull(),
  bnRm: tensorRule,
  bnRv: tensorRule,
  bnEps: number,
  bnW: tensorRule.orNull(),
  bnB: tensorRule.orNull(),
  ...kTranspose,
};

/**
 * Returns weight and bias of a convolution that include the running mean and variance, eps, weight and bias of a BatchNorm.
 */
export function fuseConvBnWeights(
  convW: Tensor,
  convB: Tensor | null,
  bnRm: Tensor,
  bnRv: Tensor,
  bnEps: number,
  bnW: Tensor | null,
  bnB: Tensor | null,
  ...rest: Arguments<[transpose: boolean], { transpose?: boolean }>
): [weight: Parameter, bias: Parameter] {
  const given = [convW, convB, bnRm, bnRv, bnEps, bnW, bnB, ...rest];
  const {
    convW: linearW,
    convB: linearB,
    transpose,
    ...norm
  } = readArguments("fuseConvBnWeights", kConvWeights, given);
  return fused({ linearW, linearB, ...norm }, transpose ? 1 : 0);
}

interface Weights {
  readonly linearW: Tensor;
  readonly linearB: Tensor | null;
  readonly bnRm: Tensor;
  readonly bnRv: Tensor;
  readonly bnEps: number;
  readonly bnW: Tensor | null;
  readonly bnB: Tensor | null;
}

function fused(given: Weights, channelDim: number): [Parameter, Parameter] {
  const { linearW, linearB, bnRm, bnRv, bnEps, bnW, bnB } = given;
  const [weight, bias] = scope(() =>
    noGrad((): [Tensor, Tensor] => {
      const root = rsqrt(add(bnRv, bnEps));
      const scale = bnW === null ? root : mul(root, bnW);
      const shape = linearW.shape.map((_, dim) => (dim === channelDim ? -1 : 1));
      const moved = linearB === null ? bnRm.neg() : sub(linearB, bnRm);
      const scaled = mul(moved, scale);
      return [mul(linearW, reshape(scale, shape)), bnB === null ? scaled : add(scaled, bnB)];
    }),
  );
  return [parameterFrom(weight), parameterFrom(bias)];
}

function numbersOf(
  norm: ChannelNorm,
): [Tensor, Tensor, number, Parameter | null, Parameter | null] {
  const { running_mean: mean, running_var: variance, eps, weight, bias } = norm;
  return [mean as Tensor, variance as Tensor, eps, weight, bias];
}

function checkEvaluation(where: string, ...modules: readonly { training: boolean }[]): void {
  if (modules.some(({ training }) => training)) {
    fail(
      "InvalidArgument",
      where,
      "both modules must be in evaluation mode: call their method `eval` first.",
    );
  }
}
