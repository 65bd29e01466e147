// y = x / keep where a mask holds.

import type { Reader } from "../../stream";
import { forEach, invocations } from "../invocations";
import type { Commands, Kernel } from "../kernel";

export const dropout: Kernel = {
  supported: { views: [["float32"], ["bool"], ["float32"]] },

  play(fields: Reader, commands: Commands): void {
    const count = fields.long();
    const keep = fields.double();
    const x = fields.in();
    const mask = fields.in();
    const y = fields.out();
    commands.dispatch({
      key: "dropout",
      memory: [
        { name: "x", view: x, mode: "read" },
        { name: "mask", view: mask, mode: "read" },
        { name: "y", view: y, mode: "write" },
      ],
      numbers: { u32: { count }, f32: { kept: 1 / Math.fround(keep) } },
      workgroups: invocations(count),
      // NaN stays NaN under the mask.
      body: () =>
        forEach(`let x = load_x(i);
  store_y(i, select(times_zero_f32(x), x * u.kept, load_mask(i) != 0u));`),
    });
  },
};
