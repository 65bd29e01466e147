// The tables of docs/pytorch_tests.md, from the files in expected/.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withMarkedPart } from "../../scripts/docs/marked_text.mjs";
import { kRoot } from "../../scripts/process.mjs";
import { readExpected } from "./expected.mjs";
import { kFiles } from "./files.mjs";

export const kPage = join(kRoot, "docs", "pytorch_tests.md");
const kKinds = ["pass", "emulated", "skip", "fault", "missing", "n/a", "shim", "unclassified"];
const kColumns = ["collected", ...kKinds, "not run"];

/** Returns how many tests of a file have each outcome. */
function outcomesOf(file) {
  const { tests, counts } = readExpected(file);
  const numbers = new Map(counts);
  for (const outcome of tests.values()) numbers.set(outcome, (numbers.get(outcome) ?? 0) + 1);
  return numbers;
}

/** Adds up the numbers of outcomes under names that `nameOf` gives them. */
function sums(outcomes, nameOf) {
  const result = new Map();
  for (const [outcome, number] of outcomes) {
    const name = nameOf(outcome);
    result.set(name, (result.get(name) ?? 0) + number);
  }
  return result;
}

const kindOf = (outcome) => outcome.split(":")[0];

function row(name, kinds) {
  const all = [...kinds.values()].reduce((sum, number) => sum + number, 0);
  const cells = kColumns.map((column) =>
    column === "collected" ? all : (kinds.get(column) ?? ""),
  );
  return `| ${name} | ${cells.join(" | ")} |\n`;
}

/** Returns the tables: of every file, and of the reasons why tests do not pass. */
export function tables() {
  const files = kFiles.map(({ file }) => [file, outcomesOf(file)]);
  const total = files.flatMap(([, outcomes]) => [...outcomes]);
  const heading = `| file | ${kColumns.join(" | ")} |\n| ${"--- | ".repeat(kColumns.length + 1).trim()}\n`;
  const rows = files.map(([file, outcomes]) => row(`\`${file}\``, sums(outcomes, kindOf)));
  const reasons = [...sums(total, (outcome) => outcome)]
    .filter(([outcome]) => /^(emulated|fault|missing|n\/a|shim|unclassified)/.test(outcome))
    .sort(([a, x], [b, y]) => kKinds.indexOf(kindOf(a)) - kKinds.indexOf(kindOf(b)) || y - x)
    .map(([outcome, number]) => `| ${outcome} | ${number} |\n`);
  return {
    files: `${heading}${rows.join("")}${row("all", sums(total, kindOf))}`,
    reasons: `| outcome | tests |\n| --- | --- |\n${reasons.join("")}`,
  };
}

/** Writes the tables into the page. */
export function writeTables() {
  const { files, reasons } = tables();
  let text = readFileSync(kPage, "utf8");
  text = withMarkedPart(text, "files", files);
  text = withMarkedPart(text, "reasons", reasons);
  writeFileSync(kPage, text);
}
