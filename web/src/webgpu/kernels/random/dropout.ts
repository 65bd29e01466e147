// Dropout: y = x / keep where a mask is true.

import type { Dropout } from "../../../generated/stream";
import type { View } from "../../stream";
import { forEach, invocations } from "../invocations";
import type { Kernel } from "../kernel";
import { rangesInWindows } from "../windows";

export const dropout: Kernel<Dropout> = {
  supported: { views: [["float32"], ["bool"], ["float32"]] },

  play({ count, keep, x, mask, y }, commands): void {
    for (const range of rangesInWindows(commands, count, [x, mask, y])) {
      const [ownX, ownMask, ownY] = range.views as [View, View, View];
      commands.dispatch({
        key: "dropout",
        memory: [
          { name: "x", view: ownX, mode: "read" },
          { name: "mask", view: ownMask, mode: "read" },
          { name: "y", view: ownY, mode: "write" },
        ],
        uniforms: { u32: { count: range.count }, f32: { kept: 1 / Math.fround(keep) } },
        workgroups: invocations(range.count),
        // A masked NaN stays NaN.
        body: () =>
          forEach(`let x = load_x(i);
  store_y(i, select(times_zero_f32(x), x * u.kept, load_mask(i) != 0u));`),
      });
    }
  },
};
