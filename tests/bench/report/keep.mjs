// The results that `npm run bench -- --write` stores: the figures in the tables of README.md and the guide, and where they were measured.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withMarkedPart } from "../../../scripts/docs/marked_text.mjs";
import { kRoot } from "../../../scripts/process.mjs";
import { kTables, tablePart } from "./tables.mjs";

const kResults = new URL("../results.json", import.meta.url);

/** Returns the stored figures, by workload. */
export function keptResults() {
  return JSON.parse(readFileSync(kResults, "utf8"));
}

/** Replaces the stored results of these workloads by those of the newest Node.js, and updates the tables. */
export function keepTables(tables, { date, cpu, cores, packages, nodes }) {
  const node = nodes.at(-1);
  const measured = {
    date: date.slice(0, 10),
    cpu,
    cores,
    node: node.title.replace("Node ", ""),
    packages,
  };
  const results = keptResults();
  for (const table of tables.filter((table) => table.node === node)) {
    results[table.name] = { measured, ...figuresOf(table) };
  }
  writeFileSync(kResults, `${JSON.stringify(results, null, 1)}\n`);
  for (const [name, { page }] of Object.entries(kTables)) {
    const path = join(kRoot, page);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, withMarkedPart(text, name, tablePart(name, results)));
  }
}

function figuresOf({ rows, results, context }) {
  const figures = {};
  for (const { id } of rows) {
    const given = results.filter(({ values }) => values[id] !== undefined);
    figures[id] = Object.fromEntries(given.map(({ contender, values }) => [contender, values[id]]));
  }
  return context.ceilings ? { ceilings: context.ceilings.fused, figures } : { figures };
}
