// Files that are derived from others are as if derived now.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runNode } from "./support/child.mjs";
import { eg } from "./support/engine.mjs";
import { readJson } from "./support/files.mjs";

test("web/src/generated is what scripts/generate_ops.mjs writes", async () => {
  const { status, stderr } = await runNode(["scripts/generate_ops.mjs", "--check"]);
  assert.equal(status, 0, stderr);
});

test("the version that the package reports is package.json's", () => {
  assert.equal(eg.runtime().version, readJson("package.json").version);
});
