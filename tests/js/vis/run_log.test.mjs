// createLog(): what a log keeps and whom it tells.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CsvWriter, confusionMatrix, createLog, SummaryWriter } from "edgegrad/vis";
import { eg } from "../support/engine.mjs";
import { eventsOf, pixelsOf } from "../support/event_files.mjs";

const valuesOf = (run, tag) => run.records("scalar", tag).map(({ value }) => value);

describe("matrices", () => {
  test("keep their names and values, and are pictures for TensorBoard", async () => {
    const [run, writer] = [createLog().run("a"), new SummaryWriter()];
    for (const recorder of [run, writer]) {
      const labels = { rows: ["a", "b"], columns: ["x", "y", "z"] };
      recorder.addMatrix("m", eg.arange(6, { dtype: "float32" }).reshape([2, 3]), 1, labels);
    }
    const { value } = run.latest("matrix", "m");
    assert.deepEqual(
      { ...value, values: [...value.values] },
      {
        ...{ rows: 2, columns: 3, values: [0, 1, 2, 3, 4, 5] },
        ...{ rowLabels: ["a", "b"], columnLabels: ["x", "y", "z"] },
      },
    );
    const [, { summary }] = eventsOf(await writer.bytes());
    const { width, height, pixels } = pixelsOf(summary.values[0].image.encoded);
    assert.deepEqual([width, height], [48, 32]);
    assert.deepEqual(
      [0, 16, 32].map((x) => pixels[16][x]),
      [153, 204, 255],
    );
  });

  test("of confusion count pairs of classes", () => {
    const found = confusionMatrix(eg.tensor([0, 1, 1, 2], { dtype: "int64" }), [0, 2, 1, 2], 3);
    assert.deepEqual(found, [
      [1, 0, 0],
      [0, 1, 1],
      [0, 0, 1],
    ]);
  });

  test("are refused if they are none", () => {
    const run = createLog().run("a");
    const kWrong = [
      () => run.addMatrix("m", eg.ones([3])),
      () => run.addMatrix("m", []),
      () => run.addMatrix("m", [[1, 2], [3]]),
      () => run.addMatrix("m", [["1"]]),
      () => run.addMatrix("m", [[1]], 0, { rows: ["a", "b"] }),
      () => confusionMatrix([0], [0, 1], 2),
      () => confusionMatrix([0], [2], 2),
      () => confusionMatrix([0], [0], 1e9),
    ];
    for (const call of kWrong) assert.throws(call, { code: "InvalidArgument" });
  });
});

describe("a log", () => {
  test("keeps the values of its runs by tag, as they were at the time", async () => {
    const log = createLog();
    const weight = eg.ones([2, 2]);
    log.run("a").addScalar("loss", 2, 0);
    log.run("a").addScalar("loss", weight.sum(), 1);
    log.run("b").addHistogram("weight", weight, 1);
    weight.mul_(3);
    log.run("b").addText("__proto__", "x");
    await log.settled();
    assert.deepEqual(
      log.runs.map(({ name }) => name),
      ["a", "b"],
    );
    assert.deepEqual(valuesOf(log.run("a"), "loss"), [2, 4]);
    assert.equal(log.run("b").latest("histogram", "weight").value.max, 1);
    assert.equal(log.run("b").latest("scalar", "loss"), null);
    assert.deepEqual(log.tags("scalar"), ["loss"]);
    assert.deepEqual(log.tags("text"), ["__proto__"]);
  });

  test("tells its listeners, until they are removed", () => {
    const log = createLog();
    const heard = [];
    const handle = log.listen(({ tag, value, step }, run) => heard.push([run, tag, value, step]));
    log.run("a").addScalar("loss", 1, 5);
    handle.remove();
    log.run("a").addScalar("loss", 2, 6);
    assert.deepEqual(heard, [["a", "loss", 1, 5]]);
  });

  test("goes to another thread record by record", () => {
    const [here, there] = [createLog(), createLog()];
    here.listen((record, run) => there.run(run).take(structuredClone(record)));
    here.run("a").addHistogram("h", [1, 2, 3], 4, 2);
    assert.deepEqual(there.run("a").all(), here.run("a").all());
    assert.equal(there.run("a").all().length, 1);
  });

  test("keeps so many records of a series, evenly, the first and the newest among them", () => {
    const log = createLog({ scalar: 8 });
    const run = log.run("a");
    for (let step = 0; step <= 1000; step++) {
      run.addScalar("loss", step, step);
      const values = valuesOf(run, "loss");
      assert.ok(values.length <= 9, `${values.length}`);
      assert.equal(values[0], 0);
      assert.equal(values.at(-1), step);
      const gaps = values.slice(1, -1).map((value, i) => value - values[i]);
      assert.ok(new Set(gaps).size <= 1, `${values}`);
    }
  });

  test("is written by writers, what it has and what it gets", async () => {
    const log = createLog();
    const run = log.run("a");
    run.addScalar("loss", 1, 1);
    run.addText("note", "x", 1);
    log.run("b").addScalar("loss", 9, 9);
    const [events, table] = [new SummaryWriter(), new CsvWriter()];
    events.follow(log, "a");
    table.follow(log, "a");
    run.addScalar("loss", 2, 2);
    await Promise.all([events.close(), table.close()]);
    run.addScalar("loss", 3, 3);
    const tags = eventsOf(await events.bytes()).flatMap(({ summary }) =>
      (summary?.values ?? []).map(({ tag }) => tag),
    );
    assert.deepEqual(tags, ["loss", "note/text_summary", "loss"]);
    const lines = new TextDecoder()
      .decode(await table.bytes())
      .trim()
      .split("\n");
    assert.equal(lines.length, 3);
  });

  test("refuses what it cannot keep", () => {
    const log = createLog();
    const kWrong = [
      () => createLog({ scalar: 1 }),
      () => createLog({ scalars: 5 }),
      () => createLog(null),
      () => log.run(""),
      () => log.run(5),
      () => log.listen(5),
      () => log.run("a").records("sound", "x"),
      () => log.run("a").addScalar("x"),
      () => log.run("a").take(null),
      () => log.run("a").take({ kind: "scalar", tag: "x", step: "1" }),
      () => log.run("a").take({ kind: "constructor", tag: "x", step: 1 }),
      () => new CsvWriter().follow({}, "a"),
    ];
    for (const call of kWrong) assert.throws(call, { code: "InvalidArgument" });
  });
});
