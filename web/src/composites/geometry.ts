// Windows that slide over axes, for convolutions, pooling and spectrograms.

import { slice } from "../generated/internal.js";
import {
  add,
  arange,
  indexAdd,
  mul,
  narrow,
  reshape,
  squeeze,
  unfold,
  unsqueeze,
  zeros,
} from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import { Tensor } from "../tensor/tensor.js";
import { sizeOf } from "./shapes.js";

/** A list of one value per axis; a single value applies to all axes. */
export function perAxis(
  where: string,
  name: string,
  value: number | readonly number[],
  axes: number,
): number[] {
  const values = typeof value === "number" ? [value] : [...value];
  if (values.length === axes) return values;
  const [only] = values;
  if (values.length === 1 && only !== undefined) return new Array(axes).fill(only);
  const reason = `one number or a list of ${axes}`;
  return fail("InvalidArgument", where, `${name}: expected ${reason}, got [${values.join(", ")}].`);
}

/** Runs a body on a batch. An input without a batch axis becomes a batch of one, and the results lose the axis again. */
export function inBatch<R extends Tensor | Tensor[]>(
  where: string,
  input: Tensor,
  ndim: number,
  body: (batch: Tensor) => R,
): R {
  if (input.ndim === ndim) return body(input);
  if (input.ndim !== ndim - 1) {
    const reason = `input: expected ${ndim - 1} dimensions, or ${ndim} with a batch`;
    fail("ShapeMismatch", where, `${reason}, got shape [${input.shape.join(", ")}].`);
  }
  const result = body(unsqueeze(input, 0));
  return (
    result instanceof Tensor ? squeeze(result, 0) : result.map((part) => squeeze(part, 0))
  ) as R;
}

/** The number of elements that a dilated window of `size` spans. */
export function spanOf(size: number, dilation: number): number {
  return dilation * (size - 1) + 1;
}

/** The windows along an axis: the axis then counts the windows, and a new last axis has their elements. */
export function windowsOf(
  input: Tensor,
  axis: number,
  size: number,
  stride: number,
  dilation: number,
): Tensor {
  const windows = unfold(input, axis, spanOf(size, dilation), stride);
  return dilation === 1 ? windows : slice(windows, -1, 0, null, dilation);
}

/** The indices along an axis of the elements of windows: [windows, size]. */
export function windowIndices(
  like: Tensor,
  count: number,
  size: number,
  stride: number,
  dilation: number,
): Tensor {
  const { device } = like;
  const starts = mul(arange(count, { dtype: "int64", device }), stride);
  const steps = mul(arange(size, { dtype: "int64", device }), dilation);
  return add(unsqueeze(starts, 1), steps);
}

/**
 * Adds up overlapping windows, the transpose of windowsOf(): `axis` counts the windows, `axis` + 1 has their elements, and
 * the result has `length` elements along that axis.
 */
export function overlapAdd(
  windows: Tensor,
  axis: number,
  length: number,
  stride: number,
  dilation: number,
): Tensor {
  const [count, size] = [sizeOf(windows, axis), sizeOf(windows, axis + 1)];
  const indices = reshape(windowIndices(windows, count, size, stride, dilation), [count * size]);
  const [before, after] = [windows.shape.slice(0, axis), windows.shape.slice(axis + 2)];
  const { dtype, device } = windows;
  const whole = zeros([...before, length, ...after], { dtype, device });
  return indexAdd(whole, axis, indices, reshape(windows, [...before, count * size, ...after]));
}

/** The `length` elements along an axis from `start` on. */
export function cropped(input: Tensor, axis: number, start: number, length: number): Tensor {
  const isWhole = start === 0 && length === sizeOf(input, axis);
  return isWhole ? input : narrow(input, axis, start, length);
}
