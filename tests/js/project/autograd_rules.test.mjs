// The check of the names of rules finds those that are not there, and rules without a test.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { findRuleErrors } from "../../../scripts/checks/autograd_rules.mjs";

const kRules = `# Rules

- \`sums-add\`: A sum
  adds.
- \`no-way\`: Nobody does that. No
  test: it cannot be done.
`;

/** Returns the errors for a page of rules and the text of a test in C++ and of one in JavaScript. */
function errorsOf(rules, cpp, js = "") {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-rules-"));
  const files = {
    "docs/autograd_rules.md": rules,
    "tests/cpp/a_test.cpp": cpp,
    "tests/js/a.test.mjs": js,
    "tests/js/support/a.mjs": "// rule: of-something-else\n",
  };
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return findRuleErrors(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("the checkout's tests cite its rules", () => {
  assert.deepEqual(findRuleErrors(), []);
});

test("a rule that a test cites is in order, and one that says why it has none", () => {
  assert.deepEqual(errorsOf(kRules, "// rule: sums-add\nTEST(Sums, Add) {}\n"), []);
  assert.deepEqual(errorsOf(kRules, "", 'test("sums", () => {\n  // rule: sums-add\n});\n'), []);
});

test("names that no rule has are found, wherever they are in a line", () => {
  const errors = errorsOf(kRules, "\n// rule: sums-add, sums-ad\n// rule: sums-add and more.\n");
  assert.deepEqual(errors, [
    'tests/cpp/a_test.cpp:2: docs/autograd_rules.md has no rule "sums-ad"',
    'tests/cpp/a_test.cpp:3: docs/autograd_rules.md has no rule "sums-add and more."',
  ]);
});

test("a rule that no test cites is found, and one that says so in vain", () => {
  const [missing, ...others] = errorsOf(kRules, "");
  assert.match(missing, /^docs\/autograd_rules\.md:3: no test cites sums-add: cite it/);
  assert.deepEqual(others, []);
  const [idle] = errorsOf(kRules, "// rule: sums-add, no-way\n");
  assert.match(idle, /^docs\/autograd_rules\.md:5: a test cites no-way, so remove/);
});

test("two rules do not have one name", () => {
  const errors = errorsOf(`${kRules}- \`sums-add\`: Again.\n`, "// rule: sums-add\n");
  assert.deepEqual(errors, ["docs/autograd_rules.md:7: sums-add is the name of an earlier rule"]);
});
