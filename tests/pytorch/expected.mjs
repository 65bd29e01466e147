// The files in expected/: each names the outcome of every test of one of PyTorch's files, under a heading for each outcome.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { reasonFor, reasonForDtype } from "./reasons.mjs";

const kFolder = join(dirname(fileURLToPath(import.meta.url)), "expected");
const kHeading = /^## (.*?) \((\d+)\)$/;
// Of these only the number is written down: there are thousands, and their names say what they are.
const kCounted = /^(missing: dtype |not run: )/;
const kOrder = ["pass", "emulated", "skip", "fault", "missing", "n/a", "shim", "unclassified"];

const pathOf = (file) => join(kFolder, `${file.replace(/\.py$/, "").replaceAll("/", ".")}.txt`);

/** Reads what is expected of a file: a map from tests to outcomes, and from counted outcomes to numbers. */
export function readExpected(file) {
  const path = pathOf(file);
  const tests = new Map();
  const counts = new Map();
  if (!existsSync(path)) return { tests, counts };
  let outcome;
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const heading = kHeading.exec(line);
    if (heading) {
      outcome = heading[1];
      if (kCounted.test(outcome)) counts.set(outcome, Number(heading[2]));
    } else if (line && !line.startsWith("#")) tests.set(line, outcome);
  }
  return { tests, counts };
}

/** Returns the outcome of a test that ran: a heading of the expected files. */
export function outcomeOf(row, known) {
  if (row.status === "pass") return row.emulated ? `emulated: ${row.emulated.join(", ")}` : "pass";
  if (row.status === "skip") return "skip";
  if (row.status === "left out") return `not run: ${row.reason ?? "outside the sample"}`;
  const lacksDtype = row.reason?.startsWith("missing: dtype ") && row.seconds === undefined;
  if (lacksDtype) return reasonForDtype(row);
  return known && !isGood(known) ? known : reasonFor(row);
}

/** True for outcomes of tests that pass or that PyTorch skips. */
export function isGood(outcome) {
  return /^(pass|skip|emulated)/.test(outcome);
}

/** Compares the outcomes of a file's tests with what is expected. Returns a line for each difference. */
export function differences(rows, { tests, counts }, isWhole) {
  const lines = [];
  const seen = new Set();
  const found = new Map();
  for (const row of rows) {
    const expected = tests.get(row.test);
    const outcome = outcomeOf(row, expected);
    if (kCounted.test(outcome)) {
      found.set(outcome, (found.get(outcome) ?? 0) + 1);
      continue;
    }
    seen.add(row.test);
    if (outcome === expected) continue;
    if (expected !== undefined) lines.push(`${row.test}: ${expected} -> ${said(outcome, row)}`);
    else if (!isWhole) lines.push(`${row.test}: not in the list -> ${said(outcome, row)}`);
    else if (!isGood(outcome))
      lines.push(`${row.test}: outside the sample -> ${said(outcome, row)}`);
  }
  for (const [test, expected] of tests)
    if (!seen.has(test)) lines.push(`${test}: ${expected} -> did not run`);
  if (!isWhole)
    for (const outcome of new Set([...counts.keys(), ...found.keys()]))
      if (counts.get(outcome) !== found.get(outcome))
        lines.push(`${outcome}: ${counts.get(outcome) ?? 0} tests -> ${found.get(outcome) ?? 0}`);
  return lines;
}

function said(outcome, row) {
  const reason = (row.reason ?? "").split("\n", 1)[0].slice(0, 160);
  return isGood(outcome) ? outcome : `${row.status}: ${reason}`;
}

/** Returns the tests of every outcome, in the order of the headings. */
export function byOutcome(rows, { tests }) {
  const groups = new Map();
  for (const row of rows) {
    const outcome = outcomeOf(row, tests.get(row.test));
    groups.set(outcome, [...(groups.get(outcome) ?? []), row.test]);
  }
  const rank = (outcome) => kOrder.findIndex((start) => outcome.startsWith(start)) >>> 0;
  return [...groups].sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** Writes what is expected of a file from now on. */
export function writeExpected(file, groups) {
  mkdirSync(kFolder, { recursive: true });
  const blocks = groups.map(([outcome, tests]) => {
    const heading = `## ${outcome} (${tests.length})\n`;
    return kCounted.test(outcome) ? heading : `${heading}${[...tests].sort().join("\n")}\n`;
  });
  writeFileSync(pathOf(file), [`# test/${file} of PyTorch 2.6.0\n`, ...blocks].join("\n"));
}
