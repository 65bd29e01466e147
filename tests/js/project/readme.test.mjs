// The tables of README.md and the guide are those that the commands have generated, and their statements are true. README.md is short.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { markedPart } from "../../../scripts/docs/marked_text.mjs";
import { keptResults } from "../../bench/report/keep.mjs";
import { kTables, tablePart } from "../../bench/report/tables.mjs";
import { ours } from "../../bench/workloads/download.mjs";
import { kRows } from "../../package/rows/index.mjs";
import { workingTable } from "../../package/table.mjs";
import { kRoot, readJson } from "../support/files.mjs";

const textOf = (page) => readFileSync(`${kRoot}${page}`, "utf8");
const kMostDrift = 0.03;
const kMostBytes = 7000;

test("README.md is something to read at once", () => {
  const size = Buffer.byteLength(textOf("README.md"));
  assert.ok(size <= kMostBytes, `${size} bytes`);
});

describe("the tables", () => {
  for (const [name, { page }] of Object.entries(kTables)) {
    test(`${page} has the table "${name}" of the figures that are kept (npm run bench -- --write)`, () => {
      assert.equal(markedPart(textOf(page), name), tablePart(name, keptResults()));
    });
  }

  test("know the size of the download (npm run bench -- --only download --write)", async () => {
    const { figures } = keptResults().download;
    const sizes = await ours();
    for (const [part, { edgegrad: kept }] of Object.entries(figures)) {
      const size = sizes[part];
      assert.ok(Math.abs(size / kept - 1) < kMostDrift, `${part}: ${size} kB, kept as ${kept}`);
    }
  });

  test("have the one of what works, with every row of npm run pack:check", () => {
    const results = readJson("tests/package/results.json");
    assert.equal(
      markedPart(textOf("docs/guide/install.md"), "what works"),
      workingTable(kRows, results),
    );
    const ids = results.map(({ id }) => id);
    assert.deepEqual(
      ids,
      kRows.map(({ id }) => id),
    );
  });
});
