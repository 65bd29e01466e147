// Formats a profile as text.

import { textTable } from "../model/text_table.js";
import type { TimeRow } from "./time_row.js";

/** The titles of the columns after the name. */
export const kTimeTitles = ["Calls", "Time", "Share"] as const;

/** The limit on rows of a text table. */
const kMostRows = 15;

/** Returns the cells of a row of times. */
export function timeCells({ name, calls, time, share }: TimeRow): string[] {
  return [name, String(calls), milliseconds(time), `${(share * 100).toFixed(1)} %`];
}

/** Returns a duration with its unit. */
export function milliseconds(time: number): string {
  return `${time.toFixed(time < 1 ? 3 : 2)} ms`;
}

/** Returns rows of times as tables, by their titles, and the time of the whole step. */
export function profileText(
  tables: Readonly<Record<string, readonly TimeRow[]>>,
  whole: number,
): string {
  const texts = Object.entries(tables).map(([title, rows]) => {
    const shown = rows.slice(0, kMostRows).map(timeCells);
    const more = rows.length > kMostRows ? `\n... and ${rows.length - kMostRows} more` : "";
    return textTable([title, ...kTimeTitles], shown, 1) + more;
  });
  return [...texts, `The whole step: ${milliseconds(whole)}`].join("\n\n");
}
