// Where values stand in sorted sequences, by bisection.

import type { SearchSorted } from "../../../generated/stream";
import { kRealDTypes } from "../../dtype";
import { forEach, invocations } from "../invocations";
import type { Kernel } from "../kernel";
import { lessText, orderedType } from "../ordered";

/**
 * WGSL statements that set `begin` to the first of `u.size` positions for which `isBefore` is false, an expression of `middle`, the
 * value of the sequence there. The sequence begins at `first`.
 */
export function bisection(sequence: string, isBefore: string): string {
  return `var begin = 0u;
  var length = u.size;
  while (length > 0u) {
    let half = length / 2u;
    let middle = load_${sequence}(first + begin + half);
    let is_before = ${isBefore};
    begin = select(begin, begin + half + 1u, is_before);
    length = select(half, length - half - 1u, is_before);
  }`;
}

export const searchSorted: Kernel<SearchSorted> = {
  supported: {
    views: [kRealDTypes, kRealDTypes, ["int64"]],
  },

  play({ sequences, size, count, right, sequence, values, positions }, commands): void {
    const all = sequences * count;
    if (all === 0) return;
    const type = orderedType(values.dtype);
    // No number is above NaN, and NaN is above none.
    const isNan = type === "f32" ? "is_nan_f32(middle) || is_nan_f32(value) || " : "";
    const before = right
      ? `!${lessText(type, "value", "middle")}`
      : lessText(type, "middle", "value");
    commands.dispatch({
      key: `search_sorted ${right}`,
      memory: [
        { name: "sequence", view: sequence, mode: "read", as: type },
        { name: "values", view: values, mode: "read", as: type },
        { name: "positions", view: positions, mode: "write", as: "index" },
      ],
      uniforms: { u32: { count: all, values: count, size } },
      workgroups: invocations(all),
      body: () =>
        forEach(`let value = load_values(i);
  let first = i / u.values * u.size;
  ${bisection("sequence", isNan + before)}
  store_positions(i, i32(begin));`),
    });
  },
};
