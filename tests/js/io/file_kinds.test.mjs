// Files of other formats: every reader says what it got, and what opens it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import * as onnx from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import { model, node, valueInfo } from "../support/onnx_models.mjs";

const bytesOf = (...parts) =>
  Uint8Array.from(
    parts.flatMap((one) => (typeof one === "string" ? [...Buffer.from(one, "latin1")] : one)),
  );

const zip = (name) =>
  bytesOf("PK\x03\x04", new Array(22).fill(0), [name.length, 0, 0, 0], name, new Array(40).fill(0));

const kOnnx = model({
  inputs: [valueInfo("x", null)],
  outputs: [valueInfo("y", null)],
  nodes: [node("Relu", ["x"], ["y"])],
});

const kFiles = {
  onnx: [kOnnx, /load\(\) of edgegrad\/onnx/],
  safetensors: [eg.io.saveSafetensors({ a: eg.ones([2]) }), /loadSafetensors/],
  torch: [await eg.io.saveTorch({ a: eg.ones([2]) }), /loadTorch/],
  npz: [zip("arr_0.npy"), /NumPy.*safetensors/],
  zip: [zip("readme.txt"), /unpack/],
  npy: [bytesOf("\x93NUMPY\x01\x00v\x00{'descr': '<f4'"), /NumPy/],
  hdf5: [bytesOf("\x89HDF\r\n\x1a\n", [0, 0]), /HDF5.*tf2onnx/],
  gguf: [bytesOf("GGUF", [3, 0, 0, 0, 1, 0, 0, 0]), /GGUF.*edgegrad\/transformers/],
  tflite: [bytesOf([0x1c, 0, 0, 0], "TFL3", [1, 2, 3, 4]), /TensorFlow Lite.*tf2onnx/],
  ort: [bytesOf([0x1c, 0, 0, 0], "ORTM", [1, 2, 3, 4]), /onnxruntime.*\.onnx/],
  gzip: [new Uint8Array(gzipSync("hello")), /gzip.*decompress/],
  tfjs: [bytesOf('{"format": "graph-model", "generatedBy": "2.11.0"}'), /TensorFlow\.js.*tf2onnx/],
  json: [bytesOf('{\n  "architectures": ["GPT2Model"]\n}'), /JSON/],
  html: [bytesOf("<!DOCTYPE html><html>"), /HTML page/],
  "git-lfs": [bytesOf("version https://git-lfs.github.com/spec/v1\noid sha256:1"), /git lfs pull/],
};

const kReaders = {
  "onnx.load": [onnx.load, ["onnx"]],
  "onnx.load of a Blob": [(bytes) => onnx.load(new Blob([bytes])), ["onnx"]],
  "onnx.inspect": [onnx.inspect, ["onnx"]],
  "io.loadTorch": [eg.io.loadTorch, ["torch", "zip"]],
  "io.loadSafetensors": [async (bytes) => eg.io.loadSafetensors(bytes), ["safetensors"]],
  "io.openSafetensors": [eg.io.openSafetensors, ["safetensors", "json"]],
  "io.load": [async (bytes) => eg.io.load(bytes), ["safetensors"]],
};

describe("fileKind", () => {
  for (const [name, [bytes, hint]] of Object.entries(kFiles)) {
    test(`knows ${name}`, () => {
      const kind = eg.io.fileKind(bytes);
      assert.equal(kind?.name, name);
      assert.match(kind.hint, hint);
      assert.equal(eg.io.fileKind(bytes.slice().buffer)?.name, name);
      assert.equal(eg.io.fileKind(bytes.subarray(0, 64))?.name, name);
    });
  }

  test("is null for what it does not know, and refuses what are no bytes", () => {
    assert.equal(eg.io.fileKind(new Uint8Array()), null);
    assert.equal(eg.io.fileKind(Uint8Array.from([1, 2, 3])), null);
    for (const value of ["x", null, 7, [1]])
      assert.throws(() => eg.io.fileKind(value), { code: "InvalidArgument" });
  });
});

for (const [reader, [read, accepted]] of Object.entries(kReaders)) {
  describe(reader, () => {
    for (const [name, [bytes, hint]] of Object.entries(kFiles)) {
      if (accepted.includes(name)) continue;
      test(`says what opens ${name}`, async () => {
        await assert.rejects(read(bytes), { code: "InvalidArgument", message: hint });
      });
    }
  });
}
