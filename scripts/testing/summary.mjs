// The summary at the end of a run, which is also stored in build/ for a later run of the other sections.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { kRoot } from "../process.mjs";

const kResults = join(kRoot, "build", "test_results.json");
const kUnsteady = join(kRoot, "build", "unsteady.json");
/** The seconds of each section in a run of CI, updated by hand with each release. */
const kTimes = join(kRoot, "tests", "times.json");
const kLong = 60 * 60; // s
const kMostGrown = 3;

const read = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : []);

function write(file, value) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

/**
 * Prints the results of sections: a table, the beginning of each `failure`, and a note on a long run. `titles` are those of all sections;
 * sections that did not run now are shown with their previous results.
 */
export function printSummary(results, titles) {
  const earlier = read(kResults).filter(
    ({ title }) => !results.some((result) => result.title === title),
  );
  const all = [...earlier, ...results].filter(({ title }) => titles.includes(title));
  console.log("\n== Summary\n          seconds   tests");
  for (const { title, seconds, passed, failure } of all) {
    const columns = [seconds.toFixed(1).padStart(9), String(passed ?? "").padStart(8)].join("");
    console.log(`  ${failure ? "FAILED" : "passed"}${columns}  ${title}`);
  }
  for (const { title, failure } of all) if (failure) console.log(`\n${title}: ${failure}`);
  for (const line of longRun(all, JSON.parse(readFileSync(kTimes, "utf8")))) console.log(line);
  write(kResults, all);
}

/** Returns the note on a run that took too long. */
export function longRun(results, times) {
  const total = results.reduce((sum, { seconds }) => sum + seconds, 0);
  if (total <= kLong) return [];
  const grown = results
    .map(({ title, seconds }) => ({ title, seconds, before: times[title] ?? 0 }))
    .sort((a, b) => b.seconds - b.before - (a.seconds - a.before))
    .slice(0, kMostGrown);
  return [
    `\nThese sections took ${Math.round(total / 60)} minutes, more than ${kLong / 60}. Those that grew most since tests/times.json:`,
    ...grown.map(
      ({ title, seconds, before }) =>
        `  ${title}: ${Math.round(before)} -> ${Math.round(seconds)} s`,
    ),
  ];
}

/** Prints, as the very last lines, the tests of this and previous runs that failed once and passed when they ran again. */
export function printUnsteady(unsteady) {
  const all = [...read(kUnsteady), ...unsteady];
  write(kUnsteady, all);
  if (all.length === 0) return;
  console.log("\n== UNSTEADY: failed, and passed alone at the end");
  for (const { title, file, test, error } of all)
    console.log(
      `  ${title}: ${file}: ${test}\n    ${error.split("\n").slice(0, 4).join("\n    ")}`,
    );
}
