// Checks of convolutions of volumes, before these are rewritten as convolutions of images.

import type { Ints } from "../../dispatch/types.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { perAxis } from "../geometry.js";

/** Throws ShapeMismatch unless the weight has a non-empty three-dimensional kernel. */
export function checkKernel(where: string, weight: Tensor): void {
  if (weight.ndim === 5 && !weight.shape.slice(2).includes(0)) return;
  const reason = `weight: expected five dimensions and a kernel that is not empty, got [${weight.shape.join(", ")}].`;
  fail("ShapeMismatch", where, reason);
}

/** One positive number per axis. */
export function positives(where: string, name: string, value: Ints): number[] {
  const values = perAxis(where, name, value, 3);
  if (values.some((value) => value <= 0)) {
    fail("InvalidArgument", where, `${name}: expected numbers above 0, got [${values}].`);
  }
  return values;
}

/** Throws ShapeMismatch unless the number of input channels matches the weight. */
export function checkChannels(
  where: string,
  batch: Tensor,
  weight: Tensor,
  groups: number,
  expected: number,
): void {
  if (groups <= 0)
    fail("InvalidArgument", where, `groups: expected a number above 0, got ${groups}.`);
  const got = batch.shape[1];
  if (got === expected) return;
  const [kernel, input] = [weight.shape.join(", "), batch.shape.join(", ")];
  const given = `weight [${kernel}] with groups ${groups}`;
  const reason = `input [${input}]: expected ${expected} channels for ${given}, got ${got}.`;
  fail("ShapeMismatch", where, reason);
}

/** Throws ShapeMismatch unless the kernel fits into the padded depth. */
export function checkDepth(where: string, padded: number, span: number): void {
  if (span > 0 && padded >= span) return;
  const reason = `the kernel spans ${span} slices of the depth, but the padded input has ${padded}.`;
  fail("ShapeMismatch", where, reason);
}

/** Throws unless the bias has one number per channel, of the dtype of the input. */
export function checkBias(
  where: string,
  input: Tensor,
  bias: Tensor | null,
  channels: number,
): void {
  if (bias === null) return;
  if (bias.dtype !== input.dtype) {
    const reason = `bias: expected the dtype of input, ${input.dtype}, got ${bias.dtype}.`;
    fail("DtypeMismatch", where, reason);
  }
  if (bias.ndim === 1 && bias.shape[0] === channels) return;
  const expected = `bias: expected one dimension of ${channels} elements`;
  fail("ShapeMismatch", where, `${expected}, got [${bias.shape.join(", ")}].`);
}

/** Throws InvalidArgument unless the output padding is less than the stride or the dilation. */
export function checkExtra(where: string, more: number, step: number, spread: number): void {
  if (more >= 0 && (more < step || more < spread)) return;
  const reason = `outputPadding: expected less than the stride, ${step}, or the dilation, ${spread}`;
  fail("InvalidArgument", where, `${reason}, got ${more}.`);
}
