// Text tables.

/** Returns rows below titles and a rule; the first `names` columns are aligned left, and the others, which are numbers, right. */
export function textTable(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  names: number,
): string {
  const widths = titles.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i < names ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join("  ")
      .trimEnd();
  return [line(titles), ruleOf(widths), ...rows.map(line)].join("\n");
}

function ruleOf(widths: readonly number[]): string {
  return "─".repeat(widths.reduce((sum, width) => sum + width + 2, -2));
}
