// Generated files are up to date.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runNode } from "../support/child.mjs";
import { eg } from "../support/engine.mjs";
import { readJson } from "../support/files.mjs";
import { callOp, opTable, samplesOf } from "../support/op_samples.mjs";

test("web/src/generated is what scripts/generate_ops.mjs writes", async () => {
  const { status, stderr } = await runNode(["scripts/generate_ops.mjs", "--check"]);
  assert.equal(status, 0, stderr);
});

test("the version that the package reports is package.json's", () => {
  assert.equal(eg.runtime().version, readJson("package.json").version);
});

test("ops give as many tensors as their types say", () => {
  const isTaken = ({ results, kind }) => results !== undefined && kind !== "internal";
  for (const op of opTable.filter(isTaken)) {
    const counts = samplesOf(op).map(({ make }) => callOp(op, make()).length);
    // If an argument decides the kind of result, the samples return both kinds or a single tensor.
    const isDecided = op.severalWith !== undefined;
    const allowed = isDecided ? [1, op.results.length] : [op.results.length];
    assert.ok(counts.length > 0 && counts.every((count) => allowed.includes(count)), op.name);
  }
});
