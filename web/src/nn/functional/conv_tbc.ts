// The convolution of signals whose time comes first.

import { composite } from "../../composites/composite.js";
import { conv1d, permute } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";

/** Convolution over time: input [T, N, C], weight [k, C, out channels], bias [out channels]; returns [T + 2 * pad - k + 1, N, out channels]. */
export const convTbc = /* @__PURE__ */ composite(
  "convTbc",
  "input:tensor weight:tensor bias:tensor pad:int=0",
  (input, weight, bias, pad) => {
    for (const [name, { shape }] of [
      ["input", input],
      ["weight", weight],
    ] as const) {
      if (shape.length === 3) continue;
      fail("ShapeMismatch", "convTbc", `${name}: expected three dimensions, got [${shape}].`);
    }
    const result = conv1d(permute(input, [1, 2, 0]), permute(weight, [2, 1, 0]), bias, 1, pad);
    return permute(result, [2, 0, 1]);
  },
);
