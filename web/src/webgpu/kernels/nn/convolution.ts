// What a convolution is told by (src/kernels/conv.h).

import type { Reader, View } from "../../stream";

export interface Convolution {
  readonly batch: number;
  readonly groups: number;
  /** Channels of a group. */
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

export function readConvolution(fields: Reader): Convolution {
  const batch = fields.long();
  const groups = fields.long();
  const inChannels = fields.long() / groups;
  const outChannels = fields.long() / groups;
  const pairs = Array.from({ length: 6 }, () => [fields.long(), fields.long()]);
  const axis = (d: number): Axis => {
    const [size, kernel, out, stride, padding, dilation] = pairs.map((pair) => pair[d]) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    return { in: size, kernel, out, stride, padding, dilation };
  };
  return { batch, groups, inChannels, outChannels, rows: axis(0), columns: axis(1) };
}

/** Numbers of places and taps. */
export function sizesOf({ rows, columns }: Convolution) {
  return {
    inPlaces: rows.in * columns.in,
    outPlaces: rows.out * columns.out,
    taps: rows.kernel * columns.kernel,
  };
}

/** A convolution, or the gradient of its input: planes of weighted sums of planes. */
export interface Gathered {
  readonly conv: Convolution;
  readonly from: View;
  readonly weight: View;
  /** A number for every channel of the result. */
  readonly bias: View | undefined;
  readonly to: View;
}

export interface WeightGradient {
  readonly conv: Convolution;
  readonly g: View;
  readonly x: View;
  readonly to: View;
}
