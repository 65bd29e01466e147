// Series of scalars as lines over common steps.

import type { RunLog } from "./run_log.js";

/** A line: its label, and its values by step. */
export interface Line {
  readonly label: string;
  readonly points: ReadonlyMap<number, number>;
}

/** Returns the lines of these tags (null: all) in these runs (null: all). A step that was recorded twice has its later value. */
export function linesOf(
  log: RunLog,
  tags: readonly string[] | null,
  runs: readonly string[] | null,
): Line[] {
  const shownTags = tags ?? log.tags("scalar");
  const shownRuns = log.runs.filter(({ name }) => runs === null || runs.includes(name));
  return shownRuns.flatMap((run) =>
    shownTags.flatMap((tag) => {
      const records = run.records("scalar", tag);
      if (records.length === 0) return [];
      const names = [
        ...(shownRuns.length > 1 ? [run.name] : []),
        ...(shownTags.length > 1 || shownRuns.length === 1 ? [tag] : []),
      ];
      return [{ label: names.join(" · "), points: new Map(records.map((r) => [r.step, r.value])) }];
    }),
  );
}

/** Returns all steps of lines, in ascending order. */
export function stepsOf(lines: readonly Line[]): number[] {
  const steps = new Set(lines.flatMap(({ points }) => [...points.keys()]));
  return [...steps].sort((a, b) => a - b);
}

/** Returns the values of a line at steps; null where there is no value or it is not finite. */
export function valuesAt({ points }: Line, steps: readonly number[]): (number | null)[] {
  return steps.map((step) => {
    const value = points.get(step);
    return value !== undefined && Number.isFinite(value) ? value : null;
  });
}

/** Returns an exponential moving average with bias correction: weight 0 keeps the values unchanged, and near 1 the line is flat. */
export function smooth(values: readonly (number | null)[], weight: number): (number | null)[] {
  let [average, share] = [0, 0];
  return values.map((value) => {
    if (value === null) return null;
    average = average * weight + value * (1 - weight);
    share = share * weight + (1 - weight);
    return average / share;
  });
}
