// The list of supported ops, and the page of the guide that shows it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { supportedOps } from "edgegrad/onnx";
import { markedPart } from "../../../scripts/docs/marked_text.mjs";
import { kLoadPage, loadTable } from "../support/onnx_pages.mjs";

test("every op is listed once, with the version that brought it", async () => {
  const ops = await supportedOps();
  const names = ops.map(({ domain, name }) => `${domain}.${name}`);
  assert.equal(new Set(names).size, names.length);
  assert.ok(
    ops.some(({ domain, name, since }) => domain === "ai.onnx" && name === "Gelu" && since === 20),
  );
  assert.ok(ops.length > 200);
});

test("the table of the guide is that list: npm run docs", async () => {
  const { path, part } = kLoadPage;
  assert.equal(markedPart(readFileSync(path, "utf8"), part), await loadTable());
});
