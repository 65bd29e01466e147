// Convolutions.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { tensor, tensorOrNull, type Value } from "../values/value.js";
import { int, maybeInts, type Ops, op, type ValuesOf } from "./op.js";
import { isSymmetric, kWindow, padBy, type Windows, windowsOn } from "./windows.js";

/** The attributes of convolutions. */
export const kConv = { ...kWindow, group: int(1) };
const kConvTranspose = { ...kConv, output_padding: maybeInts, output_shape: maybeInts };

const kForward = [eg.conv1d, eg.conv2d, eg.conv3d] as const;
const kTransposed = [eg.convTranspose1d, eg.convTranspose2d, eg.convTranspose3d] as const;

function ofRank<T>(functions: readonly T[], rank: number): T {
  return (
    functions[rank - 1] ??
    fail("ShapeMismatch", "OnnxModule", `a convolution over ${rank} axes; there are 1 to 3.`)
  );
}

/** Returns the convolution that Conv computes. */
export function convolution(
  x: eg.Tensor,
  weight: eg.Tensor,
  bias: eg.Tensor | null,
  given: ValuesOf<typeof kConv>,
): eg.Tensor {
  const windows = windowsOn(x.shape.slice(2), weight.shape.slice(2), given);
  const run = ofRank(kForward, windows.rank);
  const fits = x.shape[1] === weight.shape[1] && (bias === null || bias.numel === weight.shape[0]);
  if (fits && isPointwise(windows, given.group) && isCheaperAsProduct(x, weight, bias))
    return pointwise(x, weight, bias);
  const isEven = isSymmetric(windows);
  const input = isEven ? x : padBy(x, windows.before, windows.after, 0);
  return run(input, weight, {
    bias,
    stride: windows.strides,
    padding: isEven ? windows.before : 0,
    dilation: windows.dilations,
    groups: given.group,
  });
}

// Whether each element of the result depends on one position of the input.
function isPointwise({ rank, kernel, strides, before, after }: Windows, groups: number): boolean {
  const isOnlyOne = (list: readonly number[], only: number) => list.every((size) => size === only);
  const isSmall = isOnlyOne(kernel, 1) && isOnlyOne(strides, 1);
  return rank === 2 && groups === 1 && isSmall && isOnlyOne([...before, ...after], 0);
}

// On the CPU a matrix product takes half the time of the convolution (tests/bench/workloads/onnx.mjs), but its backward would compute
// the weight gradient of each image before summing them.
function isCheaperAsProduct(...operands: readonly (eg.Tensor | null)[]): boolean {
  const isRecorded = eg.isGradEnabled() && operands.some((operand) => operand?.requiresGrad);
  return !isRecorded && operands[0]?.device === "cpu";
}

function pointwise(x: eg.Tensor, weight: eg.Tensor, bias: eg.Tensor | null): eg.Tensor {
  const [batch = 1, channels = 1, height = 1, width = 1] = x.shape;
  const [outputs = 1] = weight.shape;
  const columns = x.reshape([batch, channels, height * width]);
  const product = eg.matmul(weight.reshape([outputs, channels]), columns);
  const sum = bias === null ? product : product.add(bias.reshape([outputs, 1]));
  return sum.reshape([batch, outputs, height, width]);
}

// Computes the whole result and crops it, because ONNX can crop both ends differently.
function transposedConvolution(
  [input, kernel, added]: readonly Value[],
  given: ValuesOf<typeof kConvTranspose>,
): eg.Tensor {
  const [x, weight, bias] = [tensor(input), tensor(kernel), tensorOrNull(added)];
  const spatial = x.shape.slice(2);
  const windows = windowsOn(spatial, weight.shape.slice(2), { ...given, auto_pad: "NOTSET" });
  const more = given.output_padding ?? spatial.map(() => 0);
  const run = ofRank(kTransposed, windows.rank);
  const common = {
    bias,
    stride: windows.strides,
    dilation: windows.dilations,
    groups: given.group,
  };
  const [before, after] = cuts(spatial, windows, more, given);
  const isUsual = before.every((pad, i) => pad === after[i] && pad >= 0);
  if (
    isUsual &&
    more.every(
      (pad, i) => pad < Math.max(windows.strides[i] as number, windows.dilations[i] as number),
    )
  ) {
    return run(x, weight, { ...common, padding: before, outputPadding: [...more] });
  }
  const whole = run(x, weight, common);
  return padBy(
    whole,
    before.map((pad) => -pad),
    after.map((pad, i) => (more[i] as number) - pad),
    0,
  );
}

function cuts(
  spatial: readonly number[],
  { kernel, strides, dilations, before, after }: Windows,
  more: readonly number[],
  { auto_pad, output_shape }: ValuesOf<typeof kConvTranspose>,
): [number[], number[]] {
  const isSame = auto_pad.startsWith("SAME");
  if (output_shape === undefined && !isSame) return [before, after];
  const wanted =
    output_shape?.slice(-spatial.length) ?? spatial.map((size, i) => size * (strides[i] as number));
  const totals = spatial.map((size, i) => {
    const reach = ((kernel[i] as number) - 1) * (dilations[i] as number) + 1;
    return (
      (size - 1) * (strides[i] as number) + (more[i] as number) + reach - (wanted[i] as number)
    );
  });
  const less = totals.map((total) => Math.floor(total / 2));
  const rest = totals.map((total, i) => total - (less[i] as number));
  return auto_pad === "SAME_UPPER" ? [less, rest] : [rest, less];
}

export const kConvolutions: Ops = {
  Conv: op({
    attributes: kConv,
    weights: [1, 2],
    run: ([x, weight, bias], given) =>
      convolution(tensor(x), tensor(weight), tensorOrNull(bias), given),
  }),
  ConvTranspose: op({ attributes: kConvTranspose, weights: [1, 2], run: transposedConvolution }),
};
