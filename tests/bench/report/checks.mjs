// Checks which of the design's targets a run met.

import { ourResult } from "../contenders.mjs";
import { formatNumber } from "./format.mjs";

/** Returns [{row, text, passed}] for the rows that have a target, and for the checks of the workload itself. */
export function checksOf({ workload, rows, results, context }) {
  const ours = ourResult(results);
  const simple = rows
    .filter(({ id, target }) => target !== undefined && ours?.values[id] !== undefined)
    .map((row) => againstTarget(row, ours.values[row.id]));
  return [...simple, ...(workload.checks?.(rows, results, context) ?? [])];
}

function againstTarget({ id, better, target }, value) {
  const passed = better === "higher" ? value >= target : value <= target;
  const sign = better === "higher" ? ">=" : "<=";
  return {
    row: id,
    text: `${sign} ${formatNumber(target, target >= 1 && target % 1 === 0 ? 0 : undefined)}`,
    passed,
  };
}
