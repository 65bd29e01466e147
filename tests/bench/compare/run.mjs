// npm run bench -- --compare A B: measures two builds in pairs, and prints a table of the results and whether B is slower
// anywhere.

import { median } from "../clock.mjs";
import { alignColumns, formatNumber } from "../report/format.mjs";
import { measurePairs } from "./pairs.mjs";
import { confirmedVerdict, isSuspect, ratiosOf, verdictOf } from "./verdict.mjs";

/** The workloads that are compared by default: what programs spend their time on, none of which takes long. */
export const kUsual = ["gemm", "ops", "chain", "mlp-sgd", "mlp-adam", "cnn", "gpt"];

/** Resolves to [{ id, better, pairs, ratio, low, high, outcome }]; suspicious rows are measured once more. */
export async function compareBuilds(dists, workloads, options) {
  const { tolerance } = options;
  const rows = await measurePairs(dists, workloads, options);
  for (const row of rows) Object.assign(row, verdictOf(ratiosOf(row.pairs, row.better), tolerance));
  const suspects = rows.filter(isSuspect);
  if (suspects.length === 0) return rows;
  const again = await measurePairs(
    dists,
    workloads.filter(({ name }) => suspects.some((row) => row.workload === name)),
    { ...options, wanted: (id) => suspects.some((row) => row.id === id) },
  );
  for (const row of suspects) {
    const pairs = again.find(({ id }) => id === row.id)?.pairs ?? [];
    const [first, second] = [row.pairs, pairs].map((some) => ratiosOf(some, row.better));
    Object.assign(row, confirmedVerdict(first, second, tolerance));
    row.pairs.push(...pairs);
  }
  return rows;
}

/** Returns the table of a comparison, as lines. */
export function comparisonLines(rows) {
  const header = ["", "A", "B", "time B / A", "95 % within", "pairs", ""];
  const body = rows.map(({ id, pairs, ratio, low, high, outcome }) => [
    id,
    ...[0, 1].map((side) => formatNumber(median(pairs.map((pair) => pair[side])))),
    ratio.toFixed(3),
    `${low.toFixed(3)} to ${high.toFixed(3)}`,
    String(pairs.length),
    outcome === "same" ? "" : outcome.toUpperCase(),
  ]);
  return alignColumns([header, ...body]);
}
