// Prints the report on the terminal.

import { kContenders } from "../contenders.mjs";
import { formatNumber } from "./format.mjs";
import { tableOf } from "./table.mjs";

export function printMachine({ cpu, cores, load, packages, nodes }) {
  console.log(`\n${cpu}, ${cores} cores, load ${formatNumber(load, 1)}`);
  const versions = Object.entries(packages).map(([name, version]) => `${name} ${version}`);
  console.log([...versions, ...nodes.map(({ title }) => title)].join(", "));
  if (load > cores / 4) {
    console.log("Other processes are using the machine, so figures are worse than they could be.");
  }
}

export function printWorkload({ title, node, rows, results, checks, context }) {
  const details = results
    .filter(({ detail }) => detail)
    .map(({ contender, detail }) => `${kContenders[contender].title}: ${detail}`);
  console.log(`\n== ${title} (${node.title})`);
  if (details.length) console.log(`   ${details.join("; ")}`);
  if (context.ceilings) console.log(`   ${ceilingLine(context.ceilings)}`);
  for (const line of tableOf({ rows, results, checks })) console.log(`   ${line}`);
  for (const { contender, failure, errors } of results) {
    const texts = new Set([failure, ...Object.values(errors)].filter(Boolean));
    for (const text of texts) console.log(`   ${kContenders[contender].title}: ${text}`);
  }
}

function ceilingLine({ mulAdd, fused }) {
  const both = (pair) => pair.map((value) => formatNumber(value, 1)).join(" / ");
  return `ceiling for 1 / 2 threads: mul + add ${both(mulAdd)}, FMA ${both(fused)}`;
}

/** Prints the targets that were missed, one line per table. */
export function printSummary(tables) {
  const all = tables.flatMap(({ checks }) => checks);
  if (all.length === 0) return;
  const met = all.filter(({ passed }) => passed).length;
  console.log(`\n== ${met} of ${all.length} targets met`);
  for (const { title, node, rows, checks } of tables) {
    const missed = checks.filter(({ passed }) => !passed);
    if (missed.length === 0) continue;
    const texts = missed.map((check) => `${nameOf(rows, check)} ${check.text}`);
    console.log(`   missed: ${title} (${node.title}): ${texts.join("; ")}`);
  }
}

function nameOf(rows, check) {
  const row = rows.find(({ id }) => id === check.row);
  return row.title ?? row.id;
}
