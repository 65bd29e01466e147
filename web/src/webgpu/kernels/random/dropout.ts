// Dropout: y = x / keep where a mask is true.

import type { Dropout } from "../../../generated/stream";
import { forEach, invocations } from "../invocations";
import type { Kernel } from "../kernel";

export const dropout: Kernel<Dropout> = {
  supported: { views: [["float32"], ["bool"], ["float32"]] },

  play({ count, keep, x, mask, y }, commands): void {
    commands.dispatch({
      key: "dropout",
      memory: [
        { name: "x", view: x, mode: "read" },
        { name: "mask", view: mask, mode: "read" },
        { name: "y", view: y, mode: "write" },
      ],
      uniforms: { u32: { count }, f32: { kept: 1 / Math.fround(keep) } },
      workgroups: invocations(count),
      // A masked NaN stays NaN.
      body: () =>
        forEach(`let x = load_x(i);
  store_y(i, select(times_zero_f32(x), x * u.kept, load_mask(i) != 0u));`),
    });
  },
};
