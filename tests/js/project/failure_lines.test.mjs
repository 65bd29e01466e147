// The end of a long log of tests: which failed, and how their errors begin.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { failureLines } from "../../../scripts/testing/runners.mjs";
import { runNode } from "../support/child.mjs";

const folder = mkdtempSync(join(tmpdir(), "edgegrad-failures-"));
after(() => rmSync(folder, { recursive: true }));

const kFailing = `
  import assert from "node:assert/strict";
  import { describe, test } from "node:test";
  describe("suite", () => {
    test("passes", () => {});
    test("compares", () => assert.equal(1, 2));
    test("waits", () => { throw new Error("goto: timeout\\nCall log:\\n  - waiting"); });
  });
`;

describe("the lines that report failures", () => {
  test("of node:test name each test once, with its error", async () => {
    const file = join(folder, "failing.test.mjs");
    writeFileSync(file, kFailing);
    const { NODE_TEST_CONTEXT, ...env } = process.env;
    const { stdout } = await runNode(["--test", "--test-reporter=spec", file], { env });
    const lines = failureLines(stdout).map((line) => line.replace(/\d+(\.\d+)?ms/, "0ms"));
    assert.deepEqual(lines, [
      "✖ compares (0ms)",
      "  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:",
      "  1 !== 2",
      "✖ waits (0ms)",
      "  Error: goto: timeout",
      "  Call log:",
      "  - waiting",
      "✖ suite (0ms)",
    ]);
  });

  test("of GoogleTest have the comparison", () => {
    const output =
      "[ RUN      ] Sum.OfOne\na_test.cpp:12: Failure\nExpected equality of these values:\n  1\n  2\n\n[  FAILED  ] Sum.OfOne (0 ms)\n";
    assert.deepEqual(failureLines(output), [
      "a_test.cpp:12: Failure",
      "  Expected equality of these values:",
      "  1",
      "  2",
      "[  FAILED  ] Sum.OfOne (0 ms)",
    ]);
  });

  test("of output without failures are none", () => {
    assert.deepEqual(failureLines("✔ passes (1ms)\nℹ pass 1\n"), []);
  });
});
