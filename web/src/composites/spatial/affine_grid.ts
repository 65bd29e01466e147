// Grids for gridSample() from affine maps.

import {
  arange,
  bmm,
  div,
  expand,
  meshgrid,
  mul,
  onesLike,
  reshape,
  stack,
  sub,
  transpose,
  zeros,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";

/**
 * The coordinates, from -1 to 1, at which gridSample() reads images of `size` that the maps `theta` transform: [N, 2, 3] and
 * size [N, C, H, W] result in [N, H, W, 2]; [N, 3, 4] and [N, C, D, H, W] in [N, D, H, W, 3].
 */
export const affineGrid = /* @__PURE__ */ composite(
  "affineGrid",
  "theta:tensor size:ints alignCorners:bool=false",
  (theta, size: readonly number[], alignCorners) => {
    const axes = checkedAxes(theta, size);
    const [count = 0, , ...sizes] = size;
    // The last axis of an image is the first coordinate.
    const lines = sizes.map((length) => centers(theta, length, alignCorners));
    const positions = meshgrid(lines).reverse();
    const [first] = positions as [Tensor];
    const base = reshape(stack([...positions, onesLike(first)], -1), [1, -1, axes + 1]);
    const points = expand(base, [count, -1, -1]);
    return reshape(bmm(points, transpose(theta, 1, 2)), [count, ...sizes, axes]);
  },
);

// The centers of `length` pixels between -1 and 1, or with aligned corners, points from -1 to 1 inclusive.
function centers({ dtype, device }: Tensor, length: number, alignCorners: boolean): Tensor {
  if (length <= 1) return zeros([length], { dtype, device });
  const steps = arange(length, { dtype, device });
  const reach = alignCorners ? length - 1 : length;
  return div(sub(mul(steps, 2), length - 1), reach);
}

function checkedAxes(theta: Tensor, size: readonly number[]): number {
  const axes = size.length - 2;
  if (axes !== 2 && axes !== 3) {
    const reason = `size: expected [N, C, H, W] or [N, C, D, H, W], got [${size}].`;
    fail("InvalidArgument", "affineGrid", reason);
  }
  if (size.some((length) => length <= 0)) {
    fail("InvalidArgument", "affineGrid", `size: expected numbers above 0, got [${size}].`);
  }
  const expected = [size[0], axes, axes + 1];
  if (theta.shape.join() === expected.join()) return axes;
  const reason = `theta: expected shape [${expected.join(", ")}] for size [${size.join(", ")}], got [${theta.shape.join(", ")}].`;
  return fail("ShapeMismatch", "affineGrid", reason);
}
