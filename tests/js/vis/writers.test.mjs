// SummaryWriter, CsvWriter and JsonlWriter: what is in their files.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { CsvWriter, JsonlWriter, SummaryWriter } from "edgegrad/vis";
import { eg } from "../support/engine.mjs";
import { crc32c, eventsOf, pixelsOf } from "../support/event_files.mjs";

const folder = mkdtempSync(join(tmpdir(), "edgegrad-vis-"));
after(() => rmSync(folder, { recursive: true }));

const kText = new TextDecoder();

async function valuesOf(writer) {
  const [, ...events] = eventsOf(await writer.bytes());
  return events.map(({ step = 0, summary }) => ({ step, ...summary.values[0] }));
}

test("the reader of these tests knows CRC-32C", () => {
  assert.equal(crc32c(new TextEncoder().encode("123456789")), 0xe3069283);
});

describe("SummaryWriter", () => {
  test("writes scalars, the first event being the version of the format", async () => {
    const writer = new SummaryWriter();
    const before = Date.now() / 1000;
    writer.addScalar("loss/train", 0.5, 1);
    writer.addScalar("loss/train", eg.tensor([2.25]), 2 ** 40);
    writer.addScalars("both", { a: 1n, b: Number.NaN }, 3);
    writer.addScalar("zero", 0);
    const after = Date.now() / 1000;
    const [version, ...events] = eventsOf(await writer.bytes());
    assert.equal(version.fileVersion, "brain.Event:2");
    assert.deepEqual(
      events.map(({ step = 0, summary: { values } }) => [step, values]),
      [
        [1, [{ tag: "loss/train", simpleValue: 0.5 }]],
        [2 ** 40, [{ tag: "loss/train", simpleValue: 2.25 }]],
        [3, [{ tag: "both/a", simpleValue: 1 }]],
        [3, [{ tag: "both/b", simpleValue: Number.NaN }]],
        [0, [{ tag: "zero", simpleValue: 0 }]],
      ],
    );
    for (const { wallTime } of events) assert.ok(wallTime >= before && wallTime <= after);
  });

  test("writes histograms that count every finite value once", async () => {
    const writer = new SummaryWriter();
    const values = [-1, 0, 0.1, 0.9, 3, Number.NaN, Number.POSITIVE_INFINITY];
    writer.addHistogram("h", eg.tensor(values), 7, 4);
    writer.addHistogram("same", [2, 2, 2], 7);
    writer.addHistogram("none", [Number.NaN], 7);
    writer.addHistogram("huge", [-1.7e308, 1.7e308], 7, 2);
    const [{ histogram }, same, none, huge] = await valuesOf(writer);
    assert.deepEqual([histogram.min, histogram.max, histogram.num], [-1, 3, 5]);
    assert.ok(Math.abs(histogram.sum - 3) < 1e-6);
    assert.ok(Math.abs(histogram.sumSquares - 10.82) < 1e-6);
    assert.deepEqual(histogram.limits, [0, 1, 2, 3]);
    assert.deepEqual(histogram.buckets, [1, 3, 0, 1]);
    assert.deepEqual(same.histogram.buckets, [3]);
    assert.equal(none.histogram.num, 0);
    assert.deepEqual(huge.histogram.buckets, [1, 1]);
  });

  test("writes pictures of every layout as PNG, in the order of their pixels", async () => {
    const writer = new SummaryWriter();
    const pixels = eg.arange(12, { dtype: "uint8" });
    writer.addImage("chw", pixels.reshape([3, 2, 2]), 1);
    writer.addImage("hwc", pixels.reshape([1, 4, 3]), 1, "HWC");
    writer.addImage("hw", eg.tensor([[0, 0.5, 1, 2, -1, Number.NaN]]), 1, "HW");
    writer.addImages("grid", eg.ones([3, 1, 1, 1]), 1);
    writer.addImages("row", eg.ones([2, 1, 1, 1]), 1, "NCHW", 2);
    await writer.flush();
    const found = Object.fromEntries(
      (await valuesOf(writer)).map(({ tag, image }) => [
        tag,
        { ...pixelsOf(image.encoded), sizes: [image.height, image.width, image.colorspace] },
      ]),
    );
    assert.deepEqual(found.chw.pixels, [
      [0, 4, 8, 1, 5, 9],
      [2, 6, 10, 3, 7, 11],
    ]);
    assert.deepEqual(found.chw.sizes, [2, 2, 3]);
    assert.deepEqual(found.hwc.pixels, [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]]);
    assert.deepEqual(found.hw.pixels, [[0, 128, 255, 255, 0, 0]]);
    assert.deepEqual(found.grid.sizes, [4, 4, 1]);
    assert.deepEqual(found.grid.pixels[0], [255, 0, 0, 255]);
    assert.deepEqual(found.grid.pixels[3], [255, 0, 0, 0]);
    assert.deepEqual(found.row.pixels, [[255, 0, 0, 255]]);
  });

  test("writes texts for TensorBoard's plugin", async () => {
    const writer = new SummaryWriter();
    writer.addText("note", "**naïve** 😀", 4);
    assert.deepEqual(await valuesOf(writer), [
      {
        step: 4,
        tag: "note/text_summary",
        tensor: { dtype: 7, shape: { dims: [{ size: 1 }] }, strings: ["**naïve** 😀"] },
        metadata: { plugin: { name: "text" } },
      },
    ]);
  });

  test("writes the graph of a module, and leaves the module as it was", async () => {
    const { nn } = eg;
    const model = new nn.Sequential(new nn.Linear(3, 4), new nn.BatchNorm1d(4), new nn.ReLU());
    model[1].eval();
    const state = String(model.stateDict()["1.running_mean"]);
    const writer = new SummaryWriter();
    const { tensors } = eg.memory();
    const input = eg.ones([2, 3]);
    writer.addGraph(model, input);
    assert.equal(eg.memory().tensors, tensors + 1);
    assert.deepEqual(
      model.modules().map(({ training }) => training),
      [true, true, false, true],
    );
    assert.equal(String(model.stateDict()["1.running_mean"]), state);
    const [, { graph }] = eventsOf(await writer.bytes());
    const named = Object.fromEntries(graph.nodes.map((node) => [node.name, node]));
    assert.equal(Object.keys(named).length, graph.nodes.length);
    assert.equal(named["input/0"].op, "Placeholder");
    assert.equal(named["0/weight"].op, "Parameter");
    assert.equal(named["1/running_mean"].op, "Buffer");
    const [relu] = graph.nodes.filter(({ op }) => op === "relu");
    assert.equal(relu.name, "2/relu");
    assert.match(named[relu.inputs[0]].name, /^1\//);
    assert.deepEqual(relu.attributes[0].value.list.shapes, [{ dims: [{ size: 2 }, { size: 4 }] }]);
    for (const { inputs = [] } of graph.nodes) for (const name of inputs) assert.ok(named[name]);
  });

  test("writes into a folder, each record at once and each writer its own file", async () => {
    const target = join(folder, "runs", "first");
    const writer = new SummaryWriter(target);
    writer.addScalar("loss", 1, 1);
    const [file] = readdirSync(target);
    assert.match(file, /^events\.out\.tfevents\.\d{10}\..+\.\d+\.\d+$/);
    assert.equal(eventsOf(readFileSync(join(target, file))).length, 2);
    new SummaryWriter(target).addScalar("loss", 1, 1);
    assert.equal(readdirSync(target).length, 2);
    await writer.close();
    await writer.close();
    assert.throws(() => writer.addScalar("loss", 1, 2), { code: "Disposed" });
    assert.throws(() => writer.addGraph(new eg.nn.ReLU(), eg.ones([1])), { code: "Disposed" });
    await assert.rejects(writer.bytes(), { code: "InvalidArgument", message: /without a target/ });
  });

  test("writes to a stream, and says what went wrong there", async () => {
    const chunks = [];
    const writer = new SummaryWriter(
      new WritableStream({ write: (chunk) => void chunks.push(chunk) }),
    );
    writer.addScalar("loss", 1, 1);
    await writer.close();
    assert.equal(eventsOf(Buffer.concat(chunks)).length, 2);
    const broken = new SummaryWriter(
      new WritableStream({
        write() {
          throw new TypeError("full");
        },
      }),
    );
    broken.addScalar("loss", 1, 1);
    await assert.rejects(broken.flush(), { name: "TypeError", message: "full" });
  });

  test("refuses what it cannot write", () => {
    const writer = new SummaryWriter();
    const image = eg.ones([2, 2, 2]);
    const kWrong = [
      [() => writer.addScalar("", 1), /addScalar\] tag/],
      [() => writer.addScalar(5, 1), /tag/],
      [() => writer.addScalar("a", 1, -1), /step/],
      [() => writer.addScalar("a", 1, 0.5), /step/],
      [() => writer.addScalar("a", "1"), /addScalar\] value: .*got "1"/],
      [() => writer.addScalar("a", eg.ones([2])), /one element/],
      [() => writer.addScalars("a", null), /values/],
      [() => writer.addHistogram("a", 5), /values/],
      [() => writer.addHistogram("a", ["1"]), /values\[0\]/],
      [() => writer.addHistogram("a", [1], 0, 0), /bins/],
      [() => writer.addHistogram("a", [1], 0, 1e9), /bins/],
      [() => writer.addHistogram("a", eg.ones([1], { dtype: "complex64" })), /real dtype/],
      [() => writer.addImage("a", image), /1, 3 or 4 channels/],
      [() => writer.addImage("a", image, 0, "WHC"), /layout/],
      [() => writer.addImage("a", eg.ones([2])), /dimensions CHW/],
      [() => writer.addImage("a", eg.ones([1, 0, 2])), /pixels/],
      [() => writer.addImages("a", eg.ones([1, 1, 2, 2]), 0, "NCHW", 0), /columns/],
      [() => writer.addText("a", 5), /text/],
      [() => writer.addGraph({}), /nn\.Module/],
      [() => new SummaryWriter(5), /target/],
      [() => new SummaryWriter("/dev/null/x"), /cannot be written/],
    ];
    for (const [call, message] of kWrong) {
      assert.throws(call, (error) => {
        assert.ok(error instanceof eg.EdgeGradError, `${error}`);
        assert.equal(error.code, "InvalidArgument");
        assert.match(error.message, message);
        return true;
      });
    }
  });
});

describe("CsvWriter", () => {
  test("writes a table, and goes on with one", async () => {
    const target = join(folder, "scalars.csv");
    for (const step of [1, 2]) {
      const writer = new CsvWriter(target);
      writer.addScalar('a,"b"', Number.NaN, step);
      await writer.close();
    }
    const lines = readFileSync(target, "utf8").trim().split("\n");
    assert.equal(lines[0], "wall_time,step,tag,value");
    assert.match(lines[1], /^\d+(\.\d+)?,1,"a,""b""",NaN$/);
    assert.match(lines[2], /^\d+(\.\d+)?,2,"a,""b""",NaN$/);
    assert.equal(lines.length, 3);
  });

  test("refuses what is no scalar", () => {
    assert.throws(() => new CsvWriter().addText("a", "b"), {
      code: "InvalidArgument",
      message: /\[CsvWriter\.addText\] .*has no text; it has: scalar/,
    });
  });
});

describe("JsonlWriter", () => {
  test("writes scalars, histograms and texts as lines of JSON", async () => {
    const writer = new JsonlWriter();
    writer.addScalar("loss", Number.NEGATIVE_INFINITY, 1);
    writer.addHistogram("h", [0, 1], 1, 2);
    writer.addText("note", "a\nb", 2);
    const lines = kText
      .decode(await writer.bytes())
      .trim()
      .split("\n")
      .map(JSON.parse);
    const [scalar, histogram, text] = lines.map(({ wallTime, ...rest }) => rest);
    assert.deepEqual(scalar, { kind: "scalar", tag: "loss", step: 1, value: "-Infinity" });
    assert.deepEqual(histogram.value.limits, [0.5, 1]);
    assert.deepEqual(histogram.value.counts, [1, 1]);
    assert.deepEqual(text, { kind: "text", tag: "note", step: 2, value: "a\nb" });
  });
});
