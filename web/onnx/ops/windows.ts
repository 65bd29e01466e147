// The windows of convolutions and pooling: sizes, strides and padding from ONNX's attributes.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { range } from "./axes.js";
import { maybeInts, string } from "./op.js";

/** Attributes that all ops with windows have. */
export const kWindow = {
  auto_pad: string("NOTSET"),
  dilations: maybeInts,
  kernel_shape: maybeInts,
  pads: maybeInts,
  strides: maybeInts,
};

/** The windows on the spatial axes. */
export interface Windows {
  readonly rank: number;
  readonly kernel: number[];
  readonly strides: number[];
  readonly dilations: number[];
  /** Elements added before and after each axis. */
  readonly before: number[];
  readonly after: number[];
}

interface Given {
  readonly auto_pad: string;
  readonly dilations: readonly number[] | undefined;
  readonly pads: readonly number[] | undefined;
  readonly strides: readonly number[] | undefined;
}

/** Returns the windows on the spatial axes with these sizes. */
export function windowsOn(
  spatial: readonly number[],
  kernel: readonly number[],
  given: Given,
): Windows {
  const rank = spatial.length;
  if (kernel.length !== rank) {
    fail("ShapeMismatch", "OnnxModule", `a kernel of shape [${kernel}] for ${rank} spatial axes.`);
  }
  const strides = [...(given.strides ?? range(rank).map(() => 1))];
  const dilations = [...(given.dilations ?? range(rank).map(() => 1))];
  const [before, after] = padding(spatial, kernel, strides, dilations, given);
  return { rank, kernel: [...kernel], strides, dilations, before, after };
}

function padding(
  spatial: readonly number[],
  kernel: readonly number[],
  strides: readonly number[],
  dilations: readonly number[],
  { auto_pad, pads }: Given,
): [number[], number[]] {
  const rank = spatial.length;
  if (auto_pad === "SAME_UPPER" || auto_pad === "SAME_LOWER") {
    const totals = spatial.map((size, i) => {
      const stride = strides[i] as number;
      const reach = ((kernel[i] as number) - 1) * (dilations[i] as number) + 1;
      return Math.max(0, (Math.ceil(size / stride) - 1) * stride + reach - size);
    });
    const less = totals.map((total) => Math.floor(total / 2));
    const more = totals.map((total) => Math.ceil(total / 2));
    return auto_pad === "SAME_UPPER" ? [less, more] : [more, less];
  }
  if (auto_pad === "VALID" || pads === undefined)
    return [range(rank).map(() => 0), range(rank).map(() => 0)];
  return [pads.slice(0, rank), pads.slice(rank, 2 * rank)];
}

/** Whether both ends of each axis have the same padding. */
export function isSymmetric({ before, after }: Windows): boolean {
  return before.every((pad, i) => pad === after[i]);
}

/** Returns a tensor with padding around its last axes. */
export function padBy(
  x: eg.Tensor,
  before: readonly number[],
  after: readonly number[],
  value: number,
): eg.Tensor {
  if ([...before, ...after].every((pad) => pad === 0)) return x;
  const pairs = before.flatMap((_, i) => {
    const axis = before.length - 1 - i;
    return [before[axis] as number, after[axis] as number];
  });
  return eg.pad(x, pairs, { value });
}
