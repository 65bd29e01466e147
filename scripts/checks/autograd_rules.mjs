// Tests cite the rules of docs/autograd_rules.md by name, in lines such as `// rule: grad-accumulates, retain-graph`. Finds names that
// are not in that page, and rules that no test cites.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { kRoot } from "../process.mjs";

const kPage = "docs/autograd_rules.md";
const kTest = /(?:_test\.cpp|\.test\.mjs)$/;
const kCitation = /^\s*\/\/ rule: ?(.*)$/;
const kUntested = "No test: ";

/** Returns what is wrong with the names of rules in the checkout, or in another folder with a page of rules and tests. */
export function findRuleErrors(root = kRoot) {
  const { rules, errors } = readRules(root);
  const cited = new Set();
  for (const { place, name } of citations(root)) {
    if (rules.has(name)) cited.add(name);
    else errors.push(`${place}: ${kPage} has no rule "${name}"`);
  }
  for (const [name, { place, text }] of rules) {
    const isUntested = text.includes(kUntested);
    if (isUntested && cited.has(name)) {
      errors.push(`${place}: a test cites ${name}, so remove "${kUntested}"`);
    } else if (!isUntested && !cited.has(name)) {
      const hint = `cite it ("// rule: ${name}"), or give the reason after "${kUntested}"`;
      errors.push(`${place}: no test cites ${name}: ${hint}`);
    }
  }
  return errors;
}

/** Returns the rules by name, and names that are used twice. A rule is an item of a list, which may continue on indented lines. */
function readRules(root) {
  const rules = new Map();
  const errors = [];
  let rule;
  for (const [place, line] of linesOf(root, kPage)) {
    const [, name, text] = /^- `([a-z0-9-]+)`: (.*)$/.exec(line) ?? [];
    if (name === undefined) {
      if (line.startsWith("  ") && rule !== undefined) rule.text += ` ${line.trim()}`;
      continue;
    }
    if (rules.has(name)) errors.push(`${place}: ${name} is the name of an earlier rule`);
    rule = { place, text };
    rules.set(name, rule);
  }
  return { rules, errors };
}

function citations(root) {
  const files = readdirSync(join(root, "tests"), { recursive: true })
    .filter((name) => kTest.test(name))
    .map((name) => `tests/${name.replaceAll("\\", "/")}`);
  return files.flatMap((file) =>
    linesOf(root, file).flatMap(([place, line]) => {
      const [, names] = kCitation.exec(line) ?? [];
      return names === undefined ? [] : names.split(", ").map((name) => ({ place, name }));
    }),
  );
}

function linesOf(root, file) {
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  return lines.map((line, i) => [`${file}:${i + 1}`, line]);
}
