// Convolutions whose windows are single positions, which are products of matrices in memory: no position has to be found. The columns of a
// sample are its positions; the rows of the weight are channels.

import type { Commands } from "../kernel";
import { multiply } from "../matrix/matrix_product";
import { type Axis, type Convolution, type Gathered, sizesOf } from "./convolution";

const isSingle = ({ kernel, stride, padding }: Axis) =>
  kernel === 1 && stride === 1 && padding === 0;

/** With fewer results, a device that computes on the CPU is faster with segments. */
const kManyResults = 2 ** 14;

/** Whether this way is better: if all operands can be read four numbers at a time. */
export function isPointwise({ isSoftware }: Commands, conv: Convolution): boolean {
  const { batch, groups, inChannels, outChannels, rows, columns } = conv;
  const { outPositions } = sizesOf(conv);
  const isInFours = [inChannels, outChannels, outPositions].every((size) => size % 4 === 0);
  const results = batch * Math.min(inChannels, outChannels) * outPositions;
  const isLarge = !isSoftware || results >= kManyResults;
  return groups === 1 && isSingle(rows) && isSingle(columns) && isInFours && isLarge;
}

export function convolvePointwise(commands: Commands, call: Gathered): void {
  const { inChannels, outChannels } = call.conv;
  multiplyPlanes(commands, call, {
    ...{ m: outChannels, k: inChannels },
    ...{ rowStride: inChannels, columnStride: 1 },
  });
}

export function convolvePointwiseBackward(commands: Commands, call: Gathered): void {
  const { inChannels, outChannels } = call.conv;
  multiplyPlanes(commands, call, {
    ...{ m: inChannels, k: outChannels },
    ...{ rowStride: 1, columnStride: inChannels },
  });
}

/** Multiplies the weight, an m x k matrix with these strides, by the planes of every sample. */
function multiplyPlanes(
  commands: Commands,
  { conv, from, weight, bias, to }: Gathered,
  { m, k, ...strides }: { m: number; k: number; rowStride: number; columnStride: number },
): void {
  const { outPositions: n } = sizesOf(conv);
  const planes = { rowStride: n, columnStride: 1 };
  multiply(commands, {
    batch: [conv.batch],
    ...{ m, n, k },
    a: { view: weight, batchStrides: [0], ...strides },
    b: { view: from, batchStrides: [k * n], ...planes },
    c: { view: to, batchStrides: [m * n], ...planes },
    bias,
    isBiasOfRows: true,
  });
}
