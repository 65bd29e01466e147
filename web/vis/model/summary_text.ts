// Formats a summary as a text table.

import type { SummaryRow, SummaryTotals } from "./summary_row.js";
import { textTable } from "./text_table.js";

/** The titles of the columns of a summary. */
export const kTitles = ["Layer", "Input", "Output", "Parameters", "Multiply-adds"] as const;

/** The number of columns that are not numeric. */
const kNames = 3;

/** Returns the cells of a row. */
export function cellsOf(row: SummaryRow): string[] {
  const { path, type, inputShapes, outputShapes, parameters, multiplyAdds, calls } = row;
  const name = path === "" ? type : `${path.split(".").at(-1)}: ${type}`;
  const times = calls > 1 ? ` (${calls} calls)` : "";
  return [
    `${name}${times}`,
    calls === 0 ? "not called" : shapesText(inputShapes),
    shapesText(outputShapes),
    parameters === 0 ? "–" : groupDigits(parameters),
    multiplyAdds === 0 ? "–" : groupDigits(multiplyAdds),
  ];
}

/** Returns the sentences below the table. */
export function totalsOf({
  parameters,
  trainable,
  multiplyAdds,
  bytes,
  inputBytes,
  outputBytes,
}: SummaryTotals): [name: string, value: string][] {
  return [
    ["Parameters", groupDigits(parameters)],
    ["Trainable", groupDigits(trainable)],
    ["Multiply-adds", groupDigits(multiplyAdds)],
    ["Parameters and buffers", sizeText(bytes)],
    ["Inputs", sizeText(inputBytes)],
    ["Outputs of layers", sizeText(outputBytes)],
  ];
}

/** Returns a summary as text: a table, whose last two columns are numbers, and the totals. */
export function summaryText(
  summary: SummaryTotals & { readonly rows: readonly SummaryRow[] },
): string {
  const rows = summary.rows.map((row) => {
    const [name, ...rest] = cellsOf(row);
    return [`${"  ".repeat(row.depth)}${name}`, ...rest];
  });
  const table = textTable(kTitles, rows, kNames);
  const [, rule] = table.split("\n");
  const totals = totalsOf(summary).map(([name, value]) => `${name}: ${value}`);
  return [table, rule, ...totals].join("\n");
}

function shapesText(shapes: readonly (readonly number[])[]): string {
  return shapes.map((shape) => `[${shape.join(", ")}]`).join(" ");
}

// 1234567 -> 1,234,567, in every locale.
function groupDigits(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Returns a number of bytes with a unit. */
export function sizeText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB"];
  const power = Math.min(3, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${Number((bytes / 1000 ** power).toPrecision(3))} ${units[power]}`;
}
