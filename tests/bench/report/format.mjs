// Formats figures as text.

export function formatNumber(value, digits) {
  if (Array.isArray(value)) return value.map((part) => formatNumber(part, digits)).join(" / ");
  if (value === undefined || value === null) return "";
  if (!Number.isFinite(value)) return String(value);
  const places = digits ?? (Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
  return value.toLocaleString("en-US", {
    minimumFractionDigits: places,
    maximumFractionDigits: places,
  });
}

/** Returns how many times better `ours` is than `theirs`. */
export function ratio(row, ours, theirs) {
  if (!row.better || !(ours > 0) || !(theirs > 0)) return null;
  return row.better === "higher" ? ours / theirs : theirs / ours;
}

export function formatRatio(value) {
  return value === null ? "" : `${formatNumber(value, value >= 20 ? 0 : value >= 1 ? 1 : 2)}x`;
}

/** Formats rows of cells as lines, with the first column aligned to the left and the others to the right. */
export function alignColumns(rows) {
  const widths = rows[0].map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows.map((row) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : (cell ?? "").padStart(widths[i])))
      .join("  ")
      .trimEnd(),
  );
}
