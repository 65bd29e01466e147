// tests/bench/history.jsonl: what `npm run bench -- --record` appends, a line of JSON per row of a workload.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { kRoot, read } from "../../../scripts/process.mjs";
import { isPeer, ourResult } from "../contenders.mjs";
import { ratio } from "./format.mjs";

/** The file, relative to the checkout. */
export const kHistory = "tests/bench/history.jsonl";

const kPath = fileURLToPath(new URL("../history.jsonl", import.meta.url));

/** Returns { commit, dirty } of the checkout; lines that were just recorded do not count as a change. */
export function stateOfCheckout(root = kRoot) {
  const commit = read("git", ["-C", root, "rev-parse", "HEAD"]);
  const status = read("git", ["-C", root, "status", "--porcelain", "--", ".", `:!${kHistory}`]);
  return { commit, dirty: status !== "" };
}

/**
 * Returns the entries of a run. For every row whose figures can be ranked, an entry has our figure, those of all peers, and
 * `ratio`: how many times better ours is than the best peer's.
 */
export function historyEntries(tables, { date, cpu, cores, load }, { commit, dirty }) {
  return tables.flatMap((table) => {
    const { node, name, results, rows } = table;
    const ours = ourResult(results);
    const machine = { cpu, cores, node: node.title.replace("Node ", "") };
    const measured = { date, commit, dirty, ...machine, load: rounded(load) };
    return rows
      .filter(({ id, better }) => better && Number.isFinite(ours?.values[id]))
      .map((row) => ({
        ...measured,
        bench: name,
        benchTitle: table.title,
        row: row.id,
        rowTitle: row.title ?? row.id,
        unit: row.unit ?? "",
        better: row.better,
        ours: rounded(ours.values[row.id]),
        ...besidePeers(row, ours, results),
      }));
  });
}

function besidePeers(row, ours, results) {
  const there = results.filter(
    ({ contender, values }) => isPeer(contender) && Number.isFinite(values[row.id]),
  );
  const peers = Object.fromEntries(
    there.map(({ contender, values }) => [contender, rounded(values[row.id])]),
  );
  const ratios = there.map(({ values }) => ratio(row, ours.values[row.id], values[row.id]));
  return { peers, ratio: ratios.length > 0 ? rounded(Math.min(...ratios)) : null };
}

/** Four digits: the fifth of a measurement is noise. */
function rounded(value) {
  return Number(value.toPrecision(4));
}

/** Appends entries to the history. */
export function appendHistory(entries, path = kPath) {
  appendFileSync(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
}

/** Returns all entries that were recorded, the oldest first. */
export function readHistory(path = kPath) {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line));
}
