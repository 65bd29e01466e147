// A convolution (src/kernels/conv.h) in the form that shaders use: by groups, rows and columns.

import type { Convolution as ConvolutionFields } from "../../../generated/stream";
import type { View } from "../../stream";

export interface Convolution {
  readonly batch: number;
  readonly groups: number;
  /** The channels of one group. */
  readonly inChannels: number;
  readonly outChannels: number;
  readonly rows: Axis;
  readonly columns: Axis;
}

/** One of the two directions of planes. */
export interface Axis {
  readonly in: number;
  readonly kernel: number;
  readonly out: number;
  readonly stride: number;
  readonly padding: number;
  readonly dilation: number;
}

export function convolutionOf(call: ConvolutionFields): Convolution {
  const { batch, groups, inChannels, outChannels } = call;
  const axis = (d: 0 | 1): Axis => ({
    in: call.in[d],
    kernel: call.kernel[d],
    out: call.out[d],
    stride: call.stride[d],
    padding: call.padding[d],
    dilation: call.dilation[d],
  });
  return {
    batch,
    groups,
    inChannels: inChannels / groups,
    outChannels: outChannels / groups,
    rows: axis(0),
    columns: axis(1),
  };
}

/** Returns the number of positions and taps. */
export function sizesOf({ rows, columns }: Convolution) {
  return {
    inPositions: rows.in * columns.in,
    outPositions: rows.out * columns.out,
    taps: rows.kernel * columns.kernel,
  };
}

/** A convolution, or the gradient of its input: its results are weighted sums over planes. */
export interface Gathered {
  readonly conv: Convolution;
  readonly from: View;
  readonly weight: View;
  /** One number per channel of the result. */
  readonly bias: View | undefined;
  readonly to: View;
}

export interface WeightGradient {
  readonly conv: Convolution;
  readonly g: View;
  readonly x: View;
  readonly to: View;
}
