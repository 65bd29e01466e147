// What convolutions of volumes refuse, in PyTorch's words, before it is hidden in channels of images.

import type { Ints } from "../../dispatch/types.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { perAxis } from "../geometry.js";

/** ShapeMismatch unless the weight is one of a kernel of three dimensions. */
export function checkKernel(where: string, weight: Tensor): void {
  if (weight.ndim === 5 && !weight.shape.slice(2).includes(0)) return;
  const told = `Expected 5-dimensional weight of a kernel that is not empty, but got weight of size: [${weight.shape.join(", ")}].`;
  fail("ShapeMismatch", where, told);
}

/** One positive number per axis. */
export function positives(where: string, name: string, value: Ints): number[] {
  const values = perAxis(where, name, value, 3);
  if (values.some((one) => one <= 0)) {
    fail("InvalidArgument", where, `non-positive ${name} is not supported.`);
  }
  return values;
}

/** ShapeMismatch unless the input has the channels that the weight is for. */
export function checkChannels(
  where: string,
  batch: Tensor,
  weight: Tensor,
  groups: number,
  expected: number,
): void {
  if (groups <= 0) fail("InvalidArgument", where, "non-positive groups is not supported.");
  const got = batch.shape[1];
  if (got === expected) return;
  const [kernel, input] = [weight.shape.join(", "), batch.shape.join(", ")];
  const given = `Given groups=${groups}, weight of size [${kernel}], expected input [${input}]`;
  const told = `${given} to have ${expected} channels, but got ${got} channels instead.`;
  fail("ShapeMismatch", where, told);
}

/** ShapeMismatch unless the kernel fits into the padded depth. */
export function checkDepth(where: string, padded: number, span: number): void {
  if (span > 0 && padded >= span) return;
  const told = `Calculated padded input size per channel: ${padded}. Kernel size: ${span}.`;
  fail("ShapeMismatch", where, `${told} Kernel size can't be greater than actual input size.`);
}

/** Refuses a bias that is not one number per channel, of the dtype of the input. */
export function checkBias(
  where: string,
  input: Tensor,
  bias: Tensor | null,
  channels: number,
): void {
  if (bias === null) return;
  if (bias.dtype !== input.dtype) {
    const types = `Input type (${input.dtype}) and weight or bias type (${bias.dtype})`;
    fail("DtypeMismatch", where, `${types} should be the same.`);
  }
  if (bias.ndim === 1 && bias.shape[0] === channels) return;
  const expected = `expected bias to be 1-dimensional with ${channels} elements`;
  fail(
    "ShapeMismatch",
    where,
    `${expected}, but got bias of size [${bias.shape.join(", ")}] instead.`,
  );
}

/** InvalidArgument unless the output padding is one that different inputs differ by. */
export function checkExtra(where: string, more: number, step: number, spread: number): void {
  if (more >= 0 && (more < step || more < spread)) return;
  const told = "output padding must be smaller than either stride or dilation";
  const got = `but got output_padding ${more}, stride ${step} and dilation ${spread}.`;
  fail("InvalidArgument", where, `${told}, ${got}`);
}
