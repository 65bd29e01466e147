// Estimates of derivatives of sampled functions.

import { add, cat, diff, div, full, mul, narrow, reshape, sub } from "../generated/ops.js";
import { fail, refusal } from "../runtime/errors/errors.js";
import { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { floatTypeOf } from "./constants.js";
import { axisOf, sizeOf } from "./shapes.js";

type Spacing = number | readonly number[] | readonly Tensor[];

/**
 * Estimates the derivatives of a function from its values by central differences. Returns one tensor per axis of `dim`, or
 * of all axes. `spacing` is the distance of the points, one distance per axis, or the coordinates per axis; at the edges, differences are
 * one-sided and of order `edgeOrder`, 1 or 2.
 */
export const gradient = /* @__PURE__ */ composite(
  "gradient",
  "input:tensor spacing:any=1 dim:ints?=null edgeOrder:int=1",
  (input, spacing: Spacing, dim, edgeOrder): Tensor[] => {
    if (edgeOrder !== 1 && edgeOrder !== 2) {
      fail("InvalidArgument", "gradient", `edgeOrder: expected 1 or 2, got ${edgeOrder}.`);
    }
    const dims = dim === null ? input.shape.map((_, d) => d) : [dim].flat();
    const axes = dims.map((d) => axisOf("gradient", d, input.ndim));
    if (new Set(axes).size < axes.length) {
      fail("InvalidArgument", "gradient", `dim: expected different dimensions, got ${axes}.`);
    }
    return axes.map((axis, i) => {
      checkSize(input, axis, edgeOrder);
      return slopes(input, axis, spacingAt(spacing, i, axes.length), edgeOrder);
    });
  },
);

function checkSize(input: Tensor, axis: number, edgeOrder: number): void {
  if (sizeOf(input, axis) > edgeOrder) return;
  const reason = `every size must be at least edgeOrder + 1 = ${edgeOrder + 1}`;
  fail("ShapeMismatch", "gradient", `${reason}, got [${input.shape}].`);
}

function spacingAt(spacing: unknown, i: number, count: number): number | Tensor {
  const own = Array.isArray(spacing) ? spacing[i] : spacing;
  const isList = Array.isArray(spacing);
  if (isList && spacing.length !== count) {
    fail(
      "InvalidArgument",
      "gradient",
      `spacing: expected one per dimension, ${count}, got ${spacing.length}.`,
    );
  }
  if (typeof own === "number" || (isList && own instanceof Tensor)) return own;
  const expected = "a number, numbers per axis or tensors of coordinates per axis";
  return fail("InvalidArgument", "gradient", refusal("spacing", expected, own));
}

// The distances between neighbors, in a shape that broadcasts along the axis.
function stepsAlong(input: Tensor, axis: number, spacing: number | Tensor): Tensor {
  const count = sizeOf(input, axis);
  const shape = input.shape.map((_, d) => (d === axis ? count - 1 : 1));
  if (!(spacing instanceof Tensor)) {
    return full(shape, spacing, { dtype: floatTypeOf(input), device: input.device });
  }
  if (spacing.ndim !== 1 || spacing.numel !== count) {
    const reason = `expected ${count} coordinates for axis ${axis}, got [${spacing.shape}]`;
    fail("ShapeMismatch", "gradient", `spacing: ${reason}.`);
  }
  return reshape(diff(spacing), shape);
}

// At equal distances the value in the middle does not count: an infinite one spoils no slope but those of its neighbors.
function evenSlopes(input: Tensor, axis: number, distance: number): Tensor {
  const count = sizeOf(input, axis) - 2;
  return div(sub(narrow(input, axis, 2, count), narrow(input, axis, 0, count)), 2 * distance);
}

function slopes(input: Tensor, axis: number, spacing: number | Tensor, edgeOrder: number): Tensor {
  const steps = stepsAlong(input, axis, spacing);
  const count = sizeOf(input, axis) - 1;
  const rises = div(diff(input, 1, axis), steps);
  const first = narrow(rises, axis, 0, 1);
  const last = narrow(rises, axis, count - 1, 1);
  if (count === 1) return cat([first, last], axis);
  const [before, after] = [narrow(steps, axis, 0, count - 1), narrow(steps, axis, 1, count - 1)];
  const [left, right] = [narrow(rises, axis, 0, count - 1), narrow(rises, axis, 1, count - 1)];
  // The slope, in the middle, of the parabola through three points, and the change of the slope.
  const width = add(before, after);
  const middle =
    spacing instanceof Tensor
      ? div(add(mul(left, after), mul(right, before)), width)
      : evenSlopes(input, axis, spacing);
  if (edgeOrder === 1) return cat([first, middle, last], axis);
  const bend = div(sub(right, left), width);
  const start = sub(first, mul(edge(bend, axis, 0), narrow(steps, axis, 0, 1)));
  const end = add(last, mul(edge(bend, axis, -1), narrow(steps, axis, count - 1, 1)));
  return cat([start, middle, end], axis);
}

function edge(bend: Tensor, axis: number, at: 0 | -1): Tensor {
  return narrow(bend, axis, at === 0 ? 0 : sizeOf(bend, axis) - 1, 1);
}
