// Convolutions whose windows are single positions, which are products of matrices in memory: no position has to be found. The columns of a
// sample are its positions; the rows of the weight are channels.

import type { Commands } from "../kernel";
import { multiply } from "../matrix/matrix_product";
import {
  type Axis,
  type Convolution,
  type Gathered,
  sizesOf,
  type WeightGradient,
} from "./convolution";
import { addShares } from "./weight_shares";

const isSingle = ({ kernel, stride, padding }: Axis) =>
  kernel === 1 && stride === 1 && padding === 0;
const hasSingles = ({ groups, rows, columns }: Convolution) =>
  groups === 1 && isSingle(rows) && isSingle(columns);

/** With fewer results, a device that computes on the CPU is faster with segments. */
const kManyResults = 2 ** 14;

/** Whether this way is better: if all operands can be read four numbers at a time. */
export function isPointwise({ isSoftware }: Commands, conv: Convolution): boolean {
  const { batch, inChannels, outChannels } = conv;
  const { outPositions } = sizesOf(conv);
  const isInVec4s = [inChannels, outChannels, outPositions].every((size) => size % 4 === 0);
  const results = batch * Math.min(inChannels, outChannels) * outPositions;
  const isLarge = !isSoftware || results >= kManyResults;
  return hasSingles(conv) && isInVec4s && isLarge;
}

/** With longer sums for every weight, a device that computes on the CPU is faster with segments. */
const kMostSteps = 4;

/**
 * Whether this way is better for the gradient of the weight: if operands can be read four numbers at a time, and the products of samples
 * are less memory than they.
 */
export function isPointwiseGradient(
  { isSoftware, mostBound }: Commands,
  conv: Convolution,
): boolean {
  const { batch, inChannels, outChannels } = conv;
  const { outPositions } = sizesOf(conv);
  const weights = inChannels * outChannels;
  const isLess = weights <= (inChannels + outChannels) * outPositions;
  const isSmall = batch === 1 || (isLess && 4 * batch * weights <= mostBound);
  const isShort = !isSoftware || outPositions <= kMostSteps * weights;
  return hasSingles(conv) && outPositions % 4 === 0 && isSmall && isShort;
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

/** Multiplies the gradient of every sample by its planes, and adds up the products. */
export function weightGradientPointwise(commands: Commands, call: WeightGradient): void {
  const { conv, g, x, to } = call;
  const { batch, inChannels: n, outChannels: m } = conv;
  const { outPositions: k } = sizesOf(conv);
  const products = batch === 1 ? to : commands.scratch(4 * batch * m * n, "float32");
  multiply(commands, {
    batch: [batch],
    ...{ m, n, k },
    a: { view: g, batchStrides: [m * k], rowStride: k, columnStride: 1 },
    b: { view: x, batchStrides: [n * k], rowStride: 1, columnStride: k },
    c: { view: products, batchStrides: [m * n], rowStride: n, columnStride: 1 },
  });
  // Of no samples, too: the sum is zero then.
  if (batch !== 1) addShares(commands, products, to, m * n, batch);
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
