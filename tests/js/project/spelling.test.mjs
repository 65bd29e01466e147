// The check of the spelling.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findSpellingErrors, spelled, spelledFiles } from "../../../scripts/checks/spelling.mjs";

test("words of the checkout are spelled the American way", () => {
  const files = spelledFiles();
  assert.ok(files.length > 1000);
  assert.deepEqual(findSpellingErrors(files), []);
});

test("words in another spelling are found, with their lines, whatever their case", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-spelling-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const text = "the centre\nkNeighbours, an optimistic optimist\nNORMALISED\n";
  writeFileSync(join(folder, "a.ts"), text);
  assert.deepEqual(findSpellingErrors(["a.ts"], folder), [
    "a.ts:1: centre is center",
    "a.ts:2: Neighbour is Neighbor",
    "a.ts:3: NORMALIS is NORMALIZ",
  ]);
  assert.equal(spelled(text), "the center\nkNeighbors, an optimistic optimist\nNORMALIZED\n");
});
