// docs/pytorch_tests.md shows the numbers of tests/pytorch/expected.

import assert from "node:assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { markedPart } from "../../scripts/docs/marked_text.mjs";
import { kPage, tables } from "./table.mjs";

test("docs/pytorch_tests.md is what node tests/pytorch/run.mjs --write writes", () => {
  const page = readFileSync(kPage, "utf8");
  const { files, reasons } = tables();
  assert.strictEqual(markedPart(page, "files"), files);
  assert.strictEqual(markedPart(page, "reasons"), reasons);
});
