// The results that `npm run bench -- --write` stores: the figures in the tables of README.md and the guide, and where they were measured.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withMarkedPart } from "../../../scripts/docs/marked_text.mjs";
import { kRoot } from "../../../scripts/process.mjs";
import { kTables, rowsInTables, tablePart } from "./tables.mjs";

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
  const kept = rowsInTables();
  for (const table of tables.filter(({ node: where, name }) => where === node && kept[name])) {
    results[table.name] = { measured, ...figuresOf(table, kept[table.name]) };
  }
  writeFileSync(kResults, resultsFile(results));
  for (const [name, { page }] of Object.entries(kTables)) {
    const path = join(kRoot, page);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, withMarkedPart(text, name, tablePart(name, results)));
  }
}

/** Returns the text of the file: a line for each row. */
export function resultsFile(results) {
  const workloads = Object.entries(results).map(([name, { figures, ...measured }]) => {
    const lines = Object.entries(figures).map(([id, row]) => `  "${id}": ${JSON.stringify(row)}`);
    const rows = `{\n${lines.join(",\n")}\n }`;
    return `"${name}": {\n ${JSON.stringify(measured).slice(1, -1)},\n "figures": ${rows}\n}`;
  });
  return `{\n${workloads.join(",\n")}\n}\n`;
}

function figuresOf({ results, context }, wanted) {
  const figures = {};
  for (const id of wanted) {
    const given = results.filter(({ values }) => values[id] !== undefined);
    figures[id] = Object.fromEntries(
      given.map(({ contender, values }) => [contender, Number(values[id].toPrecision(6))]),
    );
  }
  return context.ceilings ? { ceilings: context.ceilings.fused, figures } : { figures };
}
