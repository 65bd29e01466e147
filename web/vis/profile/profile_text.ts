// A profile as text.

import { textTable } from "../model/text_table.js";
import type { StepProfile, TimeRow } from "./step_profile.js";

/** The titles of the columns of times, after that of what is named. */
export const kTimeTitles = ["Calls", "Time", "Share"] as const;

/** The most rows of a table of text. */
const kMostRows = 15;

/** Returns the texts of a row of times. */
export function timeCells({ name, calls, time, share }: TimeRow): string[] {
  return [name, String(calls), milliseconds(time), `${(share * 100).toFixed(1)} %`];
}

/** Returns a duration with its unit. */
export function milliseconds(time: number): string {
  return `${time.toFixed(time < 1 ? 3 : 2)} ms`;
}

/** Returns the times by op, layer and thread as tables. */
export function profileText(profile: StepProfile): string {
  const tables: [string, readonly TimeRow[]][] = [
    ["Op", profile.byOp()],
    ["Layer", profile.byLayer()],
    ["Thread", profile.byThread()],
  ];
  const texts = tables.map(([title, rows]) => {
    const shown = rows.slice(0, kMostRows).map(timeCells);
    const more = rows.length > kMostRows ? `\n... and ${rows.length - kMostRows} more` : "";
    return textTable([title, ...kTimeTitles], shown, 1) + more;
  });
  return [...texts, `The whole step: ${milliseconds(profile.time)}`].join("\n\n");
}
