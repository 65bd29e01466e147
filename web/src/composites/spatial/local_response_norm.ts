// Normalization across neighboring channels.

import { add, avgPool2d, div, mul, pad, pow, reshape, square } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { composite } from "../composite.js";

/** input / (k + alpha * mean of the squares of `size` neighboring channels) ** beta, input [N, C, ...]. */
export const localResponseNorm = /* @__PURE__ */ composite(
  "localResponseNorm",
  "input:tensor size:int alpha:number=0.0001 beta:number=0.75 k:number=1",
  (input, size, alpha, beta, k) => {
    if (input.ndim < 3) {
      const reason = `input: expected three or more dimensions, got ${input.ndim}.`;
      fail("ShapeMismatch", "localResponseNorm", reason);
    }
    if (input.numel === 0) return input;
    const [count = 0, channels = 0] = input.shape;
    const squares = reshape(square(input), [count, 1, channels, -1]);
    const padded = pad(squares, [0, 0, Math.floor(size / 2), Math.floor((size - 1) / 2)]);
    const means = reshape(avgPool2d(padded, [size, 1], 1), input.shape);
    return div(input, pow(add(mul(means, alpha), k), beta));
  },
);
