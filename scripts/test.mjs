// npm test: the tests to run before each commit, section by section, followed by a summary. npm run test:all (`--all`) runs every
// section, `--rest` those that npm test leaves out, and npm run test:changed (`--changed`) those affected by a change. `npm test
// -- NAME...` runs the sections of a group, or the test files that have the name in their paths.

import { parseArgs } from "node:util";
import { ensureNodeModules } from "./dependencies.mjs";
import { expected, isExpected, main, seconds } from "./process.mjs";
import { failureLines } from "./testing/runners.mjs";
import { kGroups, kSections } from "./testing/sections.mjs";
import { sectionsNamed, sectionsOfChange } from "./testing/selection.mjs";

async function runSection({ title, work }) {
  console.log(`\n== ${title}`);
  const start = performance.now();
  let failure = null;
  let passed = null;
  try {
    passed = await work();
  } catch (error) {
    failure = error;
    console.error(isExpected(error) ? error.message : error);
  }
  return { title, time: seconds(start), passed, failure };
}

function wantedSections() {
  const flag = { type: "boolean", default: false };
  const options = { all: flag, rest: flag, changed: flag };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const { all, rest, changed } = values;
  if ([all || rest, changed, positionals.length > 0].filter(Boolean).length > 1)
    throw expected("Pass only one of --all (with or without --rest), --changed and names");
  if (rest) return kSections.filter(({ isQuick }) => !isQuick);
  if (all) return kSections;
  if (changed) return sectionsOfChange();
  if (positionals.length > 0) return [...new Set(positionals.flatMap(sectionsNamed))];
  return kSections.filter(({ isQuick }) => isQuick);
}

function printTable(results) {
  console.log("\n== Summary\n          seconds   tests");
  for (const { title, time, passed, failure } of results) {
    const columns = [time.replace(" s", "").padStart(9), String(passed ?? "").padStart(8)].join("");
    console.log(`  ${failure ? "FAILED" : "passed"}${columns}  ${title}`);
  }
}

await main(async () => {
  const sections = wantedSections();
  await ensureNodeModules();
  if (sections.length === 0) console.log("Nothing has changed.");
  const results = [];
  for (const section of sections) results.push(await runSection(section));
  printTable(results);
  const failed = results.filter(({ failure }) => failure);
  for (const { title, failure } of failed) {
    console.log(`\n${title}: ${failure.message}`);
    for (const line of failureLines(failure.output)) console.log(`  ${line}`);
  }
  const left = kSections.filter(({ isQuick }) => !isQuick);
  if (!process.argv[2]) {
    const groups = kGroups.filter((group) => left.some((one) => one.group === group)).join(", ");
    console.log(`\nNot run, see npm run test:all: ${left.length} sections of ${groups}.`);
  }
  return failed.length ? 1 : 0;
});
