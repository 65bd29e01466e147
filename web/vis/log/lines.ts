// Series of scalars as lines over the same steps.

import type { RunLog } from "./run_log.js";

/** A line: what it is called, and its values by step. */
export interface Line {
  readonly label: string;
  readonly points: ReadonlyMap<number, number>;
}

/** Returns the lines of these tags, or of all if null, in these runs, or in all. A step that came twice has its later value. */
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

/** Returns all steps of lines, in rising order. */
export function stepsOf(lines: readonly Line[]): number[] {
  const steps = new Set(lines.flatMap(({ points }) => [...points.keys()]));
  return [...steps].sort((a, b) => a - b);
}

/** Returns the values of a line at steps; null where there is none, or none that can be drawn. */
export function valuesAt({ points }: Line, steps: readonly number[]): (number | null)[] {
  return steps.map((step) => {
    const value = points.get(step);
    return value !== undefined && Number.isFinite(value) ? value : null;
  });
}

/** Returns a moving average that forgets exponentially: 0 leaves the values as they are, near 1 it is flat. It is not biased to 0. */
export function smoothed(values: readonly (number | null)[], weight: number): (number | null)[] {
  let [average, share] = [0, 0];
  return values.map((value) => {
    if (value === null) return null;
    average = average * weight + value * (1 - weight);
    share = share * weight + (1 - weight);
    return average / share;
  });
}
