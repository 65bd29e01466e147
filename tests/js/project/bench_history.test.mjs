// npm run bench -- --record: the lines that a run adds to the history, and those that are in it.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import {
  appendHistory,
  historyEntries,
  kHistory,
  readHistory,
  stateOfCheckout,
} from "../../bench/report/history.mjs";
import { kWorkloads } from "../../bench/workloads/index.mjs";
import { makeRepository } from "../support/repository.mjs";

const folder = mkdtempSync(join(tmpdir(), "edgegrad-history-"));
after(() => rmSync(folder, { recursive: true }));

const kMachine = { date: "2026-02-03T04:05:06.789Z", cpu: "A CPU", cores: 2, load: 0.123456 };
const kState = { commit: "0123456789012345678901234567890123456789", dirty: false };
const kTable = {
  name: "mlp-sgd",
  title: "MLP",
  node: { title: "Node 24.9.0" },
  rows: [
    { id: "step", unit: "ms", better: "lower" },
    { id: "rate", title: "steps/s", better: "higher" },
    { id: "loss", digits: 5 },
  ],
  results: [
    { contender: "edgegrad", values: { step: 0.712345, rate: 200, loss: 1 } },
    { contender: "edgegrad2", values: { step: 0.4 } },
    { contender: "tfjs", values: { step: 7.12345, rate: 50, loss: 1 } },
    { contender: "jax", values: { step: 1.42469, loss: 1 } },
  ],
};

describe("the entries of a run", () => {
  const entries = historyEntries([kTable], kMachine, kState);

  test("are one for each row in which more or less is better", () => {
    assert.deepEqual(
      entries.map(({ row }) => row),
      ["step", "rate"],
    );
  });

  test("say what was measured, where, of which commit, and beside whom", () => {
    assert.deepEqual(entries[0], {
      date: kMachine.date,
      ...kState,
      cpu: "A CPU",
      cores: 2,
      node: "24.9.0",
      load: 0.1235,
      bench: "mlp-sgd",
      benchTitle: "MLP",
      row: "step",
      rowTitle: "step",
      unit: "ms",
      better: "lower",
      ours: 0.7123,
      peers: { tfjs: 7.123, jax: 1.425 },
      ratio: 2,
    });
  });

  test("have the ratio to the best peer, and none where no peer has a figure", () => {
    assert.equal(entries[1].ratio, 4);
    const alone = { ...kTable, results: kTable.results.slice(0, 1) };
    const [entry] = historyEntries([alone], kMachine, kState);
    assert.deepEqual([entry.peers, entry.ratio], [{}, null]);
  });

  test("are appended, the old ones staying as they are", () => {
    const path = join(folder, "history.jsonl");
    assert.deepEqual(readHistory(path), []);
    appendHistory(entries.slice(0, 1), path);
    appendHistory(entries.slice(1), path);
    assert.deepEqual(readHistory(path), entries);
  });
});

test("a checkout is changed by everything but the history itself", () => {
  const { folder: root, git, write } = makeRepository();
  write(kHistory, "");
  write("source.cpp", "");
  git("add", "--all");
  git("commit", "--quiet", "--message=Start");
  write(kHistory, "{}\n");
  assert.deepEqual(stateOfCheckout(root), { commit: git("rev-parse", "HEAD"), dirty: false });
  write("source.cpp", "int x;\n");
  assert.equal(stateOfCheckout(root).dirty, true);
});

describe(kHistory, () => {
  const kFields = historyEntries([kTable], kMachine, kState).map((entry) => Object.keys(entry));

  test("has whole entries, in the order of time", () => {
    const entries = readHistory();
    for (const entry of entries) {
      assert.deepEqual(Object.keys(entry), kFields[0], `${entry.bench}: ${entry.row}`);
      assert.match(entry.commit, /^[0-9a-f]{40}$/);
      assert.ok(entry.ours > 0, `${entry.bench}: ${entry.row}`);
      assert.ok(kWorkloads[entry.bench], `there is no workload "${entry.bench}"`);
    }
    const dates = entries.map(({ date }) => date);
    assert.deepEqual(dates, [...dates].sort());
  });
});
