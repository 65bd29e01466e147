// terminalChart(): lines of characters, and what does not make one. Also what pages only have.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createLog, defineElements, terminalChart } from "edgegrad/vis";
import "../support/engine.mjs";

function logOf(...series) {
  const log = createLog();
  series.forEach((points, i) => {
    for (const [step, value] of points) log.run(`run ${i}`).addScalar("loss", value, step);
  });
  return log;
}

const kFalling = Array.from({ length: 200 }, (_, step) => [step, 2 * Math.exp(-step / 25)]);

describe("a chart of characters", () => {
  test("has the lines, the steps and a legend, within its size", async () => {
    const log = logOf(kFalling, [[100, 1]]);
    const rows = (await terminalChart(log, { width: 60, height: 8 })).split("\n");
    for (const row of rows) assert.ok(row.length <= 60, row);
    assert.equal(rows.filter((row) => row.includes("┤")).length, 8);
    assert.match(rows.at(-3), /step 0 to 199/);
    assert.deepEqual(rows.slice(-2), ["█ run 0 0.000698", "█ run 1 1"]);
    assert.match(rows[1], /^ *2┤/);
  });

  test("leaves out what is not finite, and runs and tags that are not asked for", async () => {
    const log = logOf(
      [
        [0, 1],
        [1, Number.NaN],
        [2, Number.POSITIVE_INFINITY],
        [3, 4],
      ],
      kFalling,
    );
    log.run("run 0").addScalar("lr", 9, 0);
    const chart = await terminalChart(log, { runs: ["run 0"], tags: ["loss"], width: 40 });
    assert.match(chart, /█ loss 4$/);
    assert.doesNotMatch(chart, /NaN|lr|run 1/);
  });

  test("is smoothed, without a bias to zero", async () => {
    const log = logOf(Array.from({ length: 50 }, (_, i) => [i, i % 2 ? 11 : 9]));
    const chart = await terminalChart(log, { smoothing: 0.95 });
    const [, last] = /loss ([\d.]+)$/.exec(chart);
    assert.ok(Math.abs(Number(last) - 10) < 0.1, last);
    const constant = await terminalChart(
      logOf([
        [0, 5],
        [1, 5],
      ]),
      { smoothing: 0.9 },
    );
    assert.match(constant, /loss 5$/);
  });

  test("has colors if they are asked for, but not in a file", async () => {
    assert.ok((await terminalChart(logOf(kFalling), { colors: true })).includes("\u001B[34m"));
    assert.ok(!(await terminalChart(logOf(kFalling), { colors: false })).includes("\u001B"));
  });

  test("is refused without values, and for sizes that it cannot have", async () => {
    const log = logOf(kFalling);
    const kWrong = [
      [createLog()],
      [logOf([[0, Number.NaN]])],
      [log, { runs: ["other"] }],
      [{}],
      [log, { width: 5 }],
      [log, { height: 1e9 }],
      [log, { smoothing: 1 }],
    ];
    for (const given of kWrong)
      await assert.rejects(terminalChart(...given), { code: "InvalidArgument" });
  });
});

test("elements are refused where there is no page", async () => {
  await assert.rejects(defineElements(), { code: "InvalidArgument", message: /call it in a page/ });
});
