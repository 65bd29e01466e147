// protobuf's own library, in Python, reads the event files of SummaryWriter.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { SummaryWriter } from "edgegrad/vis";
import { eg } from "../js/support/engine.mjs";
import { pixelsOf } from "../js/support/event_files.mjs";
import { kRoot } from "../js/support/files.mjs";

// Debian's, which has Debian's protobuf.
const kPython = "/usr/bin/python3";

const folder = mkdtempSync(join(tmpdir(), "edgegrad-events-"));
after(() => rmSync(folder, { recursive: true }));

test("protobuf's library reads every kind of event, with no field left over", async () => {
  const writer = new SummaryWriter(folder);
  writer.addScalar("loss", 0.25, 2 ** 45);
  writer.addScalar("zero", 0, 0);
  writer.addHistogram("weights", eg.tensor([-1, 0, 3]), 5, 2);
  writer.addText("note", "naïve 😀", 6);
  writer.addImage("picture", eg.arange(6, { dtype: "uint8" }).reshape([1, 2, 3]), 7);
  writer.addGraph(new eg.nn.Sequential(new eg.nn.Linear(3, 2), new eg.nn.ReLU()), eg.ones([4, 3]));
  await writer.close();
  const files = readdirSync(folder).map((name) => join(folder, name));
  const output = execFileSync(kPython, [
    "-B",
    join(kRoot, "tests/python/event_files.py"),
    ...files,
  ]);
  const events = String(output).trim().split("\n").map(JSON.parse);
  const { file_version: version } = events[0];
  assert.equal(version, "brain.Event:2");
  const recordOf = (tag) => {
    const found = events.find(({ summary }) => summary?.value[0].tag === tag);
    return { step: found.step, ...found.summary.value[0] };
  };
  assert.deepEqual(recordOf("loss"), { step: String(2 ** 45), tag: "loss", simple_value: 0.25 });
  assert.equal(events.filter(({ summary }) => summary).length, 5);
  assert.deepEqual(recordOf("weights").histo, {
    ...{ min: -1, max: 3, num: 3, sum: 2, sum_squares: 10 },
    ...{ bucket_limit: [1, 3], bucket: [2, 1] },
  });
  const note = recordOf("note/text_summary");
  assert.equal(Buffer.from(note.tensor.string_val[0], "base64").toString(), "naïve 😀");
  assert.deepEqual(note.metadata, { plugin_data: { plugin_name: "text" } });
  const { image } = recordOf("picture");
  const { pixels } = pixelsOf(new Uint8Array(Buffer.from(image.encoded_image_string, "base64")));
  assert.deepEqual(pixels, [
    [0, 1, 2],
    [3, 4, 5],
  ]);
  const { graph_def: graph } = events.find((event) => event.graph_def);
  const relu = graph.node.find(({ op }) => op === "relu");
  assert.equal(relu.name, "1/relu");
  assert.deepEqual(relu.attr[0].value.list.shape, [{ dim: [{ size: "4" }, { size: "2" }] }]);
});
