// What the runner says of outcomes that differ from tests/pytorch/expected.

import assert from "node:assert";
import { describe, it } from "node:test";
import { byOutcome, differences } from "./expected.mjs";

const row = (test, status, more = {}) => ({ test, status, seconds: 0, ...more });
const known = {
  tests: new Map([
    ["A.test_a", "pass"],
    ["A.test_b", "shim: depth of recursion"],
    ["A.test_c", "skip"],
  ]),
  counts: new Map([["missing: dtype int8", 1]]),
};
const asExpected = [
  row("A.test_a", "pass"),
  row("A.test_b", "error", { reason: "RecursionError" }),
  row("A.test_c", "skip"),
  { test: "A.test_d_cpu_int8", status: "unsupported", reason: "missing: dtype int8" },
];
const changed = (test, status, more) =>
  asExpected.map((one) => (one.test === test ? row(test, status, more) : one));

describe("outcomes of PyTorch's tests", () => {
  it("are as expected", () => {
    assert.deepStrictEqual(differences(asExpected, known, false), []);
  });

  it("differ when a test fails, passes, or passes only by what the shim does", () => {
    assert.deepStrictEqual(
      differences(changed("A.test_a", "fail", { reason: "1 != 2\nmore" }), known, false),
      ["A.test_a: pass -> fail: 1 != 2"],
    );
    assert.deepStrictEqual(differences(changed("A.test_b", "pass"), known, false), [
      "A.test_b: shim: depth of recursion -> pass",
    ]);
    const emulated = { emulated: ["out="] };
    assert.deepStrictEqual(differences(changed("A.test_a", "pass", emulated), known, false), [
      "A.test_a: pass -> emulated: out=",
    ]);
  });

  it("differ when a test is new, did not run, or tests of a dtype are more", () => {
    const more = [
      ...asExpected.slice(1),
      row("A.test_e", "pass"),
      { test: "A.test_f_cpu_int8", status: "unsupported", reason: "missing: dtype int8" },
    ];
    assert.deepStrictEqual(differences(more, known, false), [
      "A.test_e: not in the list -> pass",
      "A.test_a: pass -> did not run",
      "missing: dtype int8: 1 tests -> 2",
    ]);
  });

  it("keep the reason that a test has", () => {
    const groups = new Map(byOutcome(changed("A.test_b", "error", { reason: "other" }), known));
    assert.deepStrictEqual(groups.get("shim: depth of recursion"), ["A.test_b"]);
  });
});
