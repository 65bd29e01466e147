// Integrals of sampled functions.

import { add, cumsum, diff, mul, narrow, reshape, select, sub, sum } from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { axisOf, sizeOf } from "./shapes.js";

const kLine = "y:tensor x:tensor?=null dx:number=1 dim:int=-1";

/** Area under `y` along `dim` by the trapezoidal rule, over the points `x` or steps of `dx`. */
export const trapezoid = /* @__PURE__ */ composite("trapezoid", kLine, (y, x, dx, dim) => {
  checkNumbers("trapezoid", [x, y]);
  const axis = axisOf("trapezoid", dim, y.ndim);
  const last = sizeOf(y, axis) - 1;
  if (x !== null || last < 1) return sum(areas("trapezoid", y, x, dx, dim), dim);
  // The sum of all heights minus half the first and the last, which needs no temporary of the size of `y`.
  const ends = mul(add(select(y, axis, 0), select(y, axis, last)), 0.5);
  return mul(sub(sum(y, axis), ends), dx);
});

/** Like trapezoid(), but with one integral for each point after the first. */
export const cumulativeTrapezoid: typeof trapezoid = /* @__PURE__ */ composite(
  "cumulativeTrapezoid",
  kLine,
  (y, x, dx, dim) => {
    checkNumbers("cumulativeTrapezoid", [x, y]);
    return cumsum(areas("cumulativeTrapezoid", y, x, dx, dim), dim);
  },
);

// The sum of two booleans is a boolean.
function checkNumbers(where: string, points: readonly (Tensor | null)[]): void {
  if (points.every((point) => point?.dtype !== "bool")) return;
  fail("DtypeMismatch", where, "expected numbers, got bool.");
}

// The areas of the trapezoids between neighboring points.
function areas(where: string, y: Tensor, x: Tensor | null, dx: number, dim: number): Tensor {
  const axis = axisOf(where, dim, y.ndim);
  const count = Math.max(sizeOf(y, axis) - 1, 0);
  const heights = add(narrow(y, axis, 0, count), narrow(y, axis, sizeOf(y, axis) - count, count));
  if (x === null) return mul(heights, dx / 2);
  const isLine = x.ndim === 1 && y.ndim > 1;
  const points = isLine
    ? reshape(
        x,
        y.shape.map((_, d) => (d === axis ? -1 : 1)),
      )
    : x;
  return mul(mul(heights, diff(points, 1, dim)), 0.5);
}
