// Generates the table in tests/README.md that lists which tests cover which rules. A test declares this in a comment
// inside it or directly above it that names rules ("J.2"), conformance cases ("CC-073") or traps ("trap 48", "traps 2
// 3"). `node scripts/checks/rule_table.mjs` writes the table; --check only verifies that it is up to date.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandError, kRoot, main } from "../process.mjs";

/** The title and the number of rules of each chapter. */
const kChapters = {
  A: ["graph data model", 21],
  B: ["entry points", 22],
  C: ["what the engine consists of", 27],
  D: ["how a call runs", 14],
  E: ["nested calls, threads, errors, callbacks", 20],
  F: ["accumulation and checks of gradients", 10],
  G: ["modes and requires_grad", 18],
  H: ["saved tensors and versions", 20],
  I: ["in-place changes, views, detach", 19],
  J: ["hooks", 14],
  K: ["custom functions", 16],
  M: ["complex numbers", 6],
  N: ["anomaly mode, introspection, checkpoint, checks, functional, forward mode", 12],
  O: ["the algorithm of 2018, as an oracle", 8],
};
const kCases = 174;
const kTraps = 63;

const kFile = join(kRoot, "tests", "README.md");
const kStart = "<!-- The table from here on is written by scripts/checks/rule_table.mjs. -->\n";

/** Writes the table, or with `check` throws if it is not up to date. */
export function ruleTable({ check }) {
  const text = readFileSync(kFile, "utf8");
  const wanted = text.slice(0, text.indexOf(kStart)) + kStart + table(testsOfRules());
  if (text === wanted) return;
  const how = "tests/README.md: run npm run format (or node scripts/checks/rule_table.mjs)";
  if (check) throw new CommandError("rule table", 1, how);
  writeFileSync(kFile, wanted);
}

/** Returns the tests of each rule: a Map from "J.2" to the links to them. */
function testsOfRules() {
  const tests = new Map();
  const folder = join(kRoot, "tests");
  const files = readdirSync(folder, { recursive: true }).map((name) => name.replaceAll("\\", "/"));
  for (const file of files.filter((name) => /(_test\.cpp|\.test\.mjs)$/.test(name)).sort()) {
    for (const [rule, name] of claimsOf(readFileSync(join(folder, file), "utf8"), file))
      tests.set(rule, (tests.get(rule) ?? new Set()).add(`[${name}](${file})`));
  }
  return tests;
}

/** Returns pairs of a rule and the name of the test that claims it. */
function claimsOf(text, file) {
  const isCpp = file.endsWith(".cpp");
  const claims = [];
  // Rules named in comments above a test that has not been read yet.
  let waiting = [];
  let test;
  let suite = "";
  for (const line of text.split("\n")) {
    if (!isCpp) suite = /^\s*describe\("(.*?)",/.exec(line)?.[1] ?? suite;
    const name = isCpp ? cppTestName(line) : jsTestName(line, suite);
    if (name !== null) {
      test = name;
      claims.push(...waiting.map((rule) => [rule, test]));
      waiting = [];
    }
    const rules = rulesIn(/(?:^|\s)\/\/ ?(.*)$/.exec(line)?.[1] ?? "");
    if (isCpp && line.startsWith("//")) waiting.push(...rules);
    else if (test !== undefined) claims.push(...rules.map((rule) => [rule, test]));
  }
  return claims;
}

function cppTestName(line) {
  const found = /^(?:TYPED_)?TEST(?:_F|_P)?\((\w+), (\w+)/.exec(line);
  return found && `${found[1]}.${found[2]}`;
}

function jsTestName(line, suite) {
  const found = /^\s*test\(\s*["`](.*?)["`],/.exec(line) ?? /^\s*test\(`(.*)/.exec(line);
  return found && `${suite} ${found[1]}`.trim();
}

/** Returns the rules that a comment names; "E.8 to E.11" and "traps 11-13" are ranges. */
function rulesIn(comment) {
  const names = /\b([A-O])\.(\d{1,2})\b(?: to (?:\1\.)?(\d{1,2})\b)?/g;
  const lists = comment.matchAll(/\btraps? ((?:\d+(?:-| to |, | and | )?)+)/gi);
  const traps = [...lists].flatMap(([, list]) => [...list.matchAll(/(\d+)(?:(?:-| to )(\d+))?/g)]);
  return [
    ...[...comment.matchAll(/CC-\d{3}/g)].flat(),
    ...[...comment.matchAll(names)]
      .flatMap(([, chapter, first, last]) => range(`${chapter}.`, first, last))
      .filter(isRule),
    ...traps.flatMap(([, first, last]) => range("trap ", first, last)),
  ];
}

/** Returns texts that end with the numbers from `first` to `last`. */
function range(text, first, last = first) {
  return Array.from({ length: last - first + 1 }, (_, i) => `${text}${Number(first) + i}`);
}

function isRule(rule) {
  const [chapter, number] = rule.split(".");
  return Number(number) >= 1 && Number(number) <= (kChapters[chapter]?.[1] ?? 0);
}

function table(tests) {
  const sections = Object.entries(kChapters).map(([chapter, [title, count]]) =>
    section(`${chapter}: ${title}`, range(`${chapter}.`, 1, count), tests),
  );
  const cases = range("", 1, kCases).map((number) => `CC-${number.padStart(3, "0")}`);
  const named = cases.filter((id) => tests.has(id));
  sections.push(section("Conformance cases", named, tests));
  return [...sections, section("Traps", range("trap ", 1, kTraps), tests)].join("");
}

function section(title, rules, tests) {
  const held = rules.filter((rule) => tests.has(rule));
  const rows = held.map((rule) => `| ${rule} | ${[...tests.get(rule)].sort().join("<br>")} |\n`);
  const missing = rules.filter((rule) => !tests.has(rule));
  const rest = missing.length === 0 ? "" : `\nNamed by no test: ${missing.join(", ")}.\n`;
  return `\n## ${title} (${held.length} of ${rules.length})\n\n| | held by |\n|---|---|\n${rows.join("")}${rest}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(() => ruleTable({ check: process.argv.includes("--check") }));
}
