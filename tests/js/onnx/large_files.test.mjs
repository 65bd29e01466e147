// Models whose initializers are too large to be read with the rest of the file: they stay in the file until their tensor is filled.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import * as onnx from "edgegrad/onnx";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";
import { field, model, node, tensorProto, valueInfo } from "../support/onnx_models.mjs";

const folder = mkdtempSync(join(tmpdir(), "edgegrad-onnx-large-"));
after(() => rmSync(folder, { recursive: true }));

/** Bytes behind the head of a tensor, which arrays would be slow for. */
function joined(...parts) {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function varint(value) {
  const bytes = [];
  let left = value;
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return [...bytes, left];
}

const block = (number, content) => joined([(number << 3) | 2], varint(content.length), content);

function rawTensor(name, type, shape, array) {
  const head = [...shape.flatMap((size) => field(1, size)), ...field(2, type), ...field(8, name)];
  return joined(head, block(9, new Uint8Array(array.buffer)));
}

const kColumns = 300_007;
const kWeight = Float32Array.from({ length: 2 * kColumns }, (_, i) => Math.sin(i));
const kSmall = Int8Array.from({ length: kColumns }, (_, i) => i % 100);

// The sum of a row of a large tensor, times a small one and one of a type that edgegrad lacks.
const kModel = joined(
  block(
    7,
    joined(
      field(1, node("Gather", ["weight", "row"], ["found"], { axis: 0 })),
      block(5, rawTensor("weight", 1, [2, kColumns], kWeight)),
      field(1, node("Cast", ["small"], ["cast"], { to: 1 })),
      block(5, rawTensor("small", 3, [kColumns], kSmall)),
      field(5, tensorProto("factor", [1], [2])),
      field(1, node("Mul", ["found", "factor"], ["product"])),
      field(1, node("Add", ["product", "cast"], ["y"])),
      field(11, valueInfo("row", [], 7)),
      field(12, valueInfo("y", null)),
    ),
  ),
  field(8, field(2, 17)),
);

function write(name, bytes) {
  writeFileSync(join(folder, name), bytes);
  return pathToFileURL(join(folder, name));
}

async function assertComputes(module) {
  const expected = Float32Array.from(kSmall, (one, i) => 2 * kWeight[kColumns + i] + one);
  const row = eg.tensor(1, { dtype: "int64" });
  eg.testing.assertClose(module.call(row).detach(), eg.tensor(expected));
  assert.deepEqual(
    module.namedParameters().map(([name, { shape }]) => [name, shape]),
    [["weight", [2, kColumns]]],
  );
}

describe("a model with large tensors", () => {
  for (const [what, source] of [
    ["in memory", kModel],
    ["in memory, at an odd address", joined([0], kModel).subarray(1)],
    ["in a Blob", new Blob([kModel])],
    ["in a file", write("whole.onnx", kModel)],
  ]) {
    test(`${what} is read, and written again`, async () => {
      const module = await onnx.load(source);
      await assertComputes(module);
      await assertComputes(await onnx.load(await onnx.save(module)));
    });
  }

  test("cut anywhere is refused or lacks a part", async () => {
    const places = [10, 1000, 70_000, 1_000_000, kModel.length - 500, kModel.length - 10];
    for (const place of places) {
      const url = write("cut.onnx", kModel.subarray(0, place));
      const [inFile, inMemory] = await Promise.all(
        [url, kModel.subarray(0, place)].map((source) => onnx.load(source).catch((error) => error)),
      );
      assert.ok(inFile instanceof eg.EdgeGradError, `${place}`);
      assert.equal(inFile.message, inMemory.message);
    }
  });

  test("leaves no tensors behind when it is refused", async () => {
    const broken = joined(kModel, block(7, joined(field(1, node("Quux", [], ["y"])))));
    for (const file of [kModel.subarray(0, kModel.length - 100), broken]) {
      await collectGarbage();
      const before = eg.memory().tensors;
      await assert.rejects(onnx.load(write("broken.onnx", file)), { code: "InvalidArgument" });
      assert.ok(eg.memory().tensors <= before);
    }
  });
});

test("tensors in another file cannot be many times as large as it", async () => {
  const external = (name) => [
    ...field(1, 64),
    ...field(2, 1),
    ...field(8, name),
    ...field(13, [...field(1, "location"), ...field(2, "data.bin")]),
    ...field(14, 1),
  ];
  const withTensors = (count) =>
    model({
      outputs: [valueInfo("y", null)],
      nodes: [node("Identity", ["w0"], ["y"])],
      initializers: Array.from({ length: count }, (_, i) => external(`w${i}`)),
    });
  const externalData = { "data.bin": new Uint8Array(256) };
  assert.deepEqual((await onnx.load(withTensors(4), { externalData })).call().shape, [64]);
  await assert.rejects(onnx.load(withTensors(5), { externalData }), /1280 bytes of files.* 256/);
});
