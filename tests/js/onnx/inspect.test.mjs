// inspect(): what is in a file, without a module.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect, load, save } from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import {
  functionProto,
  graph,
  model,
  node,
  tensorProto,
  valueInfo,
} from "../support/onnx_models.mjs";

const kModel = model({
  inputs: [valueInfo("x", ["n", 2]), valueInfo("w", [1, 2]), valueInfo("text", [1], 8)],
  outputs: [valueInfo("y", ["n", 1]), valueInfo("z", ["n", 1])],
  initializers: [tensorProto("w", [1, 2], [2, 3]), tensorProto("axes", [3], [0, 1, 2], 7)],
  domains: { own: 1 },
  functions: [
    functionProto("Twice", {
      inputs: ["a"],
      outputs: ["b"],
      nodes: [node("Add", ["a", "a"], ["b"])],
    }),
  ],
  nodes: [
    node("Gemm", ["x", "w", ""], ["h"], { transB: 1, alpha: { float: 0.5 } }, { name: "/fc/Gemm" }),
    node("Twice", ["h"], ["y"], {}, { domain: "own" }),
    node("Unheard", ["h"], ["z"], {
      mode: "fast",
      sizes: [1, 2],
      body: { graph: graph({ nodes: [] }) },
    }),
  ],
  metadata: { author: "me" },
});

test("a file is described with its nodes, tensors, shapes and metadata, also if load() refuses it", async () => {
  const found = await inspect(kModel);
  assert.deepEqual(
    found.inputs.map(({ name, dtype, shape }) => [name, dtype, shape]),
    [
      ["x", "float32", ["n", 2]],
      ["text", "string", [1]],
    ],
  );
  assert.deepEqual(
    found.outputs.map(({ name }) => name),
    ["y", "z"],
  );
  assert.deepEqual(found.initializers, [
    { name: "w", type: "float", dtype: "float32", shape: [1, 2], bytes: 8 },
    { name: "axes", type: "int64", dtype: "int64", shape: [3], bytes: 24 },
  ]);
  const [gemm, twice, unheard] = found.nodes;
  assert.deepEqual(gemm, {
    name: "/fc/Gemm",
    op: "Gemm",
    domain: "ai.onnx",
    inputs: ["x", "w", ""],
    outputs: ["h"],
    attributes: { transB: "1", alpha: "0.5" },
    isSupported: true,
  });
  assert.deepEqual([twice.domain, twice.isSupported], ["own", true]);
  assert.equal(unheard.isSupported, false);
  assert.deepEqual(unheard.attributes, { mode: "fast", sizes: "[1, 2]", body: "graph of 0 nodes" });
  assert.deepEqual(found.shapes, { x: ["n", 2], w: [1, 2], text: [1], y: ["n", 1], z: ["n", 1] });
  assert.deepEqual([found.opset, found.metadata], [17, { author: "me" }]);
  assert.deepEqual(structuredClone(found), found);
  await assert.rejects(load(kModel), { code: "InvalidArgument", message: /Unheard/ });
});

test("names of values and attributes cannot change a prototype", async () => {
  const name = "__proto__";
  const found = await inspect(
    model({
      inputs: [valueInfo(name, [1])],
      outputs: [valueInfo("y", [1])],
      nodes: [node("Relu", [name], ["y"], { [name]: 1 })],
      metadata: { [name]: "text" },
    }),
  );
  assert.deepEqual(Object.keys(found.shapes).sort(), [name, "y"]);
  assert.deepEqual(Object.keys(found.metadata), [name]);
  assert.equal({}.text, undefined);
});

test("a saved module is described by the names of its parts", async () => {
  const bytes = await save(new eg.nn.Sequential(new eg.nn.Linear(2, 3), new eg.nn.ReLU()), {
    inputs: [eg.zeros([1, 2])],
  });
  const { nodes, producer } = await inspect(new Blob([bytes]));
  assert.deepEqual(
    nodes.map(({ name, op }) => [name, op]),
    [
      ["/0/Gemm", "Gemm"],
      ["/1/Relu", "Relu"],
    ],
  );
  assert.match(producer, /^edgegrad/);
});

test("what is no model is refused under its own name", async () => {
  for (const given of [new Uint8Array(0), Uint8Array.of(7, 7, 7), "model.onnx", null]) {
    await assert.rejects(inspect(given), {
      code: "InvalidArgument",
      message: /^\[onnx\.inspect\]/,
    });
  }
});
