// Gradients of weights that are the sum of shares: several dispatches, or parts of one, each compute one.

import type { View } from "../../stream";
import { forEach, invocations } from "../invocations";
import type { Commands } from "../kernel";

/** Sets `to` to the sums of the shares in `from`, one array of `weights` after the other. */
export function addShares(
  commands: Commands,
  from: View,
  to: View,
  weights: number,
  shares: number,
): void {
  commands.dispatch({
    key: "convolve_backward_weight shares",
    memory: [
      { name: "from", view: from, mode: "read" },
      { name: "to", view: to, mode: "write" },
    ],
    uniforms: { u32: { count: weights, shares } },
    stores: [{ name: "to", count: weights }],
    workgroups: invocations(weights),
    body: () =>
      forEach(`var sum = 0f;
  for (var share = 0u; share < u.shares; share++) {
    sum += load_from(share * u.count + i);
  }
  store_to(i, sum);`),
  });
}
