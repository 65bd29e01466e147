// npm test: the tests to run before each commit, section by section, followed by a summary. npm run test:all (`--all`) runs every
// section, `--rest` those that npm test leaves out, and npm run test:changed (`--changed`) those affected by a change. `npm test
// -- NAME...` runs the sections of a group, or the test files that have the name in their paths. With `--again`, as in CI, a file that
// failed in a section that drives browsers, servers or processes runs once more at the end, alone.

import { parseArgs } from "node:util";
import { ensureNodeModules } from "./machine/dependencies.mjs";
import { expected, isExpected, main } from "./process.mjs";
import { failureLines } from "./testing/runners.mjs";
import { kGroups, kSections } from "./testing/sections.mjs";
import { sectionsNamed, sectionsOfChange } from "./testing/selection.mjs";
import { printSummary, printUnsteady } from "./testing/summary.mjs";

async function runSection(section) {
  console.log(`\n== ${section.title}`);
  const start = performance.now();
  let failure = null;
  let passed = null;
  try {
    passed = await section.work();
  } catch (error) {
    failure = error;
    console.error(isExpected(error) ? error.message : error);
  }
  return { section, seconds: (performance.now() - start) / 1000, passed, failure };
}

/** Runs the failed files of a section again. If all pass, the section has passed; returns the previous failures. */
async function runAgain(result) {
  const { section, failure } = result;
  const failures = failure?.failures ?? [];
  if (!section.again || failures.length === 0) return [];
  const start = performance.now();
  for (const file of new Set(failures.map((failure) => failure.file))) {
    console.log(`\n== Again, alone: ${file}`);
    try {
      await section.again(file);
    } catch (error) {
      console.error(isExpected(error) ? error.message : error);
      return [];
    }
  }
  result.failure = null;
  result.seconds += (performance.now() - start) / 1000;
  result.passed = failure.passed + failures.length;
  return failures.map((failure) => ({ title: section.title, ...failure }));
}

function readOptions() {
  const flag = { type: "boolean", default: false };
  const options = { all: flag, rest: flag, changed: flag, again: flag };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const { all, rest, changed } = values;
  if ([all || rest, changed, positionals.length > 0].filter(Boolean).length > 1)
    throw expected("Pass only one of --all (with or without --rest), --changed and names");
  return { ...values, names: positionals };
}

function wantedSections({ all, rest, changed, names }) {
  if (rest) return kSections.filter(({ isQuick }) => !isQuick);
  if (all) return kSections;
  if (changed) return sectionsOfChange();
  if (names.length > 0) return [...new Set(names.flatMap(sectionsNamed))];
  return kSections.filter(({ isQuick }) => isQuick);
}

await main(async () => {
  const options = readOptions();
  const sections = wantedSections(options);
  await ensureNodeModules();
  if (sections.length === 0) console.log("Nothing has changed.");
  const results = [];
  const unsteady = [];
  for (const section of sections) results.push(await runSection(section));
  if (options.again) for (const result of results) unsteady.push(...(await runAgain(result)));
  printSummary(
    results.map(({ section, seconds, passed, failure }) => ({
      title: section.title,
      seconds,
      passed,
      failure: failure && [failure.message, ...failureLines(failure.output)].join("\n  "),
    })),
    (options.rest ? kSections : sections).map(({ title }) => title),
  );
  const left = kSections.filter(({ isQuick }) => !isQuick);
  if (!(options.all || options.rest || options.changed || options.names.length)) {
    const groups = kGroups
      .filter((group) => left.some((section) => section.group === group))
      .join(", ");
    console.log(`\nNot run, see npm run test:all: ${left.length} sections of ${groups}.`);
  }
  if (options.again) printUnsteady(unsteady);
  return results.some(({ failure }) => failure) ? 1 : 0;
});
