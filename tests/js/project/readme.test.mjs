// README.md's tables are those that the commands have generated, and their statements are true.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { markedPart } from "../../../scripts/marked_text.mjs";
import { keptResults } from "../../bench/report/keep.mjs";
import { kTables, readmePart } from "../../bench/report/readme.mjs";
import { ours } from "../../bench/workloads/download.mjs";
import { kRows } from "../../package/rows/index.mjs";
import { readmeTable } from "../../package/table.mjs";
import { kRoot, readJson } from "../support/files.mjs";

const readme = readFileSync(`${kRoot}README.md`, "utf8");
const kMostDrift = 0.03;

describe("README.md", () => {
  for (const name of Object.keys(kTables)) {
    test(`has the table "${name}" of the figures that are kept (npm run bench -- --write)`, () => {
      assert.equal(markedPart(readme, name), readmePart(name, keptResults()));
    });
  }

  test("knows the size of the download (npm run bench -- --only download --write)", async () => {
    const { figures } = keptResults().download;
    for (const [part, size] of Object.entries(await ours())) {
      const kept = figures[part].edgegrad;
      assert.ok(Math.abs(size / kept - 1) < kMostDrift, `${part}: ${size} kB, kept as ${kept}`);
    }
  });

  test("has the table of what works, with every row of npm run pack:check", () => {
    const results = readJson("tests/package/results.json");
    assert.equal(markedPart(readme, "what works"), readmeTable(kRows, results));
    const ids = results.map(({ id }) => id);
    assert.deepEqual(
      ids,
      kRows.map(({ id }) => id),
    );
  });
});
