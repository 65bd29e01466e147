// Formats one workload on one Node.js as a table: our figure, each peer's figure with how many times better ours is,
// and the target.

import { isPeer, kContenders, ourResult } from "../contenders.mjs";
import { alignColumns, formatNumber, formatRatio, ratio } from "./format.mjs";

const kLongestError = 20; // in a cell; the full text is printed below the table

export function tableOf({ rows, results, checks }) {
  const ours = ourResult(results);
  const header = ["", ...results.flatMap(({ contender }) => titles(contender)), "target"];
  const body = rows
    .filter((row) => results.some((result) => cell(row, result) !== ""))
    .map((row) => [
      `${row.title ?? row.id}${row.unit && row.title ? `, ${row.unit}` : ""}`,
      ...results.flatMap((result) => cells(row, result, ours)),
      checks
        .filter((check) => check.row === row.id)
        .map((check) => `${check.text} ${check.passed ? "ok" : "MISSED"}`)
        .join(", "),
    ]);
  return alignColumns([header, ...body]);
}

function titles(contender) {
  const { title } = kContenders[contender];
  if (contender === "edgegrad2") return [title, "of 1t"];
  return isPeer(contender) ? [title, "ours"] : [title];
}

function cells(row, result, ours) {
  const { contender, values } = result;
  const text = cell(row, result);
  if (contender === "edgegrad2") {
    const gain = ratio(row, values[row.id], ours?.values[row.id]);
    return [text, formatRatio(gain)];
  }
  if (!isPeer(contender)) return [text];
  return [text, formatRatio(ratio(row, ours?.values[row.id], values[row.id]))];
}

function cell(row, { values, errors, failure }) {
  if (values[row.id] !== undefined) return formatNumber(values[row.id], row.digits);
  const error = errors[row.id] ?? (row.better ? failure : null) ?? "";
  return error.length > kLongestError ? `${error.slice(0, kLongestError - 1)}…` : error;
}
