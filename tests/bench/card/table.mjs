// The result as text: what is measured where, and a table in Markdown.

import { formatNumber } from "../report/format.mjs";
import { kContenders } from "./contenders.mjs";

/** Returns the cells of a row, one per contender: a rate, an error's text, or nothing. */
export function cellsOf(row, results) {
  return Object.keys(kContenders).map((name) => {
    const { value, error } = results[name]?.[row.id] ?? {};
    return error ?? results[name]?.failure ?? formatNumber(value, value < 0.1 ? 4 : undefined);
  });
}

/** The titles of the columns. */
export const kColumns = ["", "unit", ...Object.values(kContenders).map(({ title }) => title)];

/** Returns the table, with what was measured above it, as Markdown. `results` has for each contender {id: {value or error}}. */
export function resultText({ adapter, where, rows, results }) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const align = kColumns.map((_, i) => (i < 2 ? "---" : "---:"));
  return [
    ...adapter.lines.map(([title, text]) => `- ${title}: ${text}`),
    `- measured in: ${where}`,
    "",
    line(kColumns),
    line(align),
    ...rows.map((row) => line([row.title, row.unit, ...cellsOf(row, results)])),
  ].join("\n");
}
