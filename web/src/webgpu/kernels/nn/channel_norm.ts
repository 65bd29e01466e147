// Normalization of channels, batch norm: a row is a channel of all samples, in one part per sample.

import type { ChannelNorm, ChannelNormBackward } from "../../../generated/stream";
import { isWhole, type Kernel } from "../kernel";
import { kSum } from "../lanes";
import { accesses, dispatchRows } from "./rows";

/** With fewer neighbors of a sample in memory, those of other channels are read together. */
const kFewNeighbors = 4;

// The position in memory of element k of a channel.
const kElement = `fn at_of(position: u32, k: u32) -> u32 {
  return (k / u.part * u.positions + position) * u.part + k % u.part;
}`;

/** Calls `text` for all elements `at` of the channel that belong to the lane. */
const forEachElement = (text: string) => `for (var k = lane; k < u.size; k += kLanes) {
    let at = at_of(position, k);
    ${text}
  }`;

const follow = (name: string, observed: string) =>
  `store_running_${name}(position, load_running_${name}(position) * u.kept + ${observed} * u.momentum);`;

export const channelNorm: Kernel<ChannelNorm> = {
  supported: { all: ["float32"] },

  play(call, commands): void {
    const { outer, channels, inner, eps, x, weight, bias, y, mean, variance, rstd, running } = call;
    const { momentum, mean: running_mean, variance: running_variance } = running;
    const results = { y, mean, variance, rstd, running_mean, running_variance };
    dispatchRows(
      commands,
      { outer: channels, size: outer * inner, inner: 1 },
      {
        key: `channel_norm ${!!weight} ${!!bias} ${!!variance} ${!!running_mean} ${!!running_variance}`,
        memory: [...accesses("read", { x, weight, bias }), ...accesses("write", results)],
        uniforms: { u32: { part: inner }, f32: { eps, momentum, kept: 1 - momentum } },
        isRowMajor: inner >= kFewNeighbors,
        stores: [{ name: "y", count: outer * channels * inner }],
        combine: { sum_of_lanes: kSum },
        functions: kElement,
        work: `var mean = 0f;
  ${forEachElement("mean += load_x(at);")}
  mean = sum_of_lanes(thread, mean) / f32(u.size);
  var squares = 0f;
  ${forEachElement("let centered = load_x(at) - mean;\n    squares += centered * centered;")}
  squares = sum_of_lanes(thread, squares);
  let rstd = 1f / sqrt_f32(squares / f32(u.size) + u.eps);
  let scale = rstd${weight ? " * load_weight(position)" : ""};
  let shift = ${bias ? "load_bias(position)" : "0f"};
  if (is_inside) {
    ${forEachElement("store_y(at, (load_x(at) - mean) * scale + shift);")}
    if (lane == 0u) {
      let variance = squares / (f32(u.size) - 1f);
      store_mean(position, mean);
      ${variance ? "store_variance(position, variance);" : ""}
      store_rstd(position, rstd);
      ${running_mean ? follow("mean", "mean") : ""}
      ${running_variance ? follow("variance", "variance") : ""}
    }
  }`,
      },
    );
  },
};

export const channelNormBackward: Kernel<ChannelNormBackward> = {
  supported: { all: ["float32"] },

  play(call, commands): void {
    const { outer, channels, inner, x, weight, mean, rstd, gradY: g } = call;
    const { gradX: grad_x, gradWeight: grad_weight, gradBias: grad_bias } = call;
    // With x' = (x - mean) rstd, the gradient is rstd weight (g - mean(g) - x' mean(g x')).
    dispatchRows(
      commands,
      { outer: channels, size: outer * inner, inner: 1 },
      {
        key: `channel_norm_backward ${!!weight} ${!!grad_x} ${!!grad_weight} ${!!grad_bias}`,
        memory: [
          ...accesses("read", { x, weight, mean, rstd, g }),
          ...accesses("write", { grad_x, grad_weight, grad_bias }),
        ],
        uniforms: { u32: { part: inner } },
        isRowMajor: inner >= kFewNeighbors,
        stores: grad_x ? [{ name: "grad_x", count: outer * channels * inner }] : [],
        combine: { sum_of_lanes: kSum },
        functions: kElement,
        work: `let mean = load_mean(position);
  let rstd = load_rstd(position);
  var sum = 0f;
  var dot = 0f;
  ${forEachElement("let g = load_g(at);\n    sum += g;\n    dot += g * (load_x(at) - mean);")}
  sum = sum_of_lanes(thread, sum);
  dot = sum_of_lanes(thread, dot);
  if (is_inside && lane == 0u) {
    ${grad_weight ? "store_grad_weight(position, dot * rstd);" : ""}
    ${grad_bias ? "store_grad_bias(position, sum);" : ""}
  }
  ${
    grad_x
      ? `let mean_g = sum / f32(u.size);
  let slope = dot * rstd * rstd / f32(u.size);
  let scale = rstd${weight ? " * load_weight(position)" : ""};
  if (is_inside) {
    ${forEachElement("store_grad_x(at, (load_g(at) - mean_g - (load_x(at) - mean) * slope) * scale);")}
  }`
      : ""
  }`,
      },
    );
  },

  overwrites: ({ outer, channels, inner, gradX, gradWeight, gradBias }) =>
    (gradX === undefined || isWhole(gradX, outer * channels * inner)) &&
    (gradWeight === undefined || isWhole(gradWeight, channels)) &&
    (gradBias === undefined || isWhole(gradBias, channels)),
};
