// The order of nodes: onnxruntime runs nodes in any order of the file, and so does load().

import assert from "node:assert/strict";
import { test } from "node:test";
import * as onnx from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import {
  functionProto,
  graph,
  model,
  node,
  tensorProto,
  valueInfo,
} from "../support/onnx_models.mjs";

const one = (parts) =>
  model({ inputs: [valueInfo("x", null)], outputs: [valueInfo("y", null)], ...parts });

const input = eg.tensor([1, 2]);

test("nodes before those that they depend on are moved behind them", async () => {
  const module = await onnx.load(
    one({
      nodes: [
        node("Add", ["c", "b"], ["y"]),
        node("Mul", ["b", "b"], ["c"]),
        node("Add", ["a", "x"], ["b"]),
        node("Neg", ["w"], ["a"]),
      ],
      initializers: [tensorProto("w", [2], [3, 4])],
    }),
  );
  assert.deepEqual(module.call(input).arraySync(), [2, 2]);
});

test("also those of branches, of functions, and nodes whose branches read them", async () => {
  const branch = (op) =>
    graph({
      nodes: [node("Neg", ["inner"], ["b"]), node(op, ["outer", "x"], ["inner"])],
      outputs: [valueInfo("b", null)],
    });
  const twice = functionProto("Twice", {
    inputs: ["a"],
    outputs: ["c"],
    nodes: [node("Add", ["b", "a"], ["c"]), node("Identity", ["a"], ["b"])],
  });
  const module = await onnx.load(
    one({
      domains: { own: 1 },
      functions: [twice],
      inputs: [valueInfo("x", null), valueInfo("flag", [], 9)],
      nodes: [
        node("If", ["flag"], ["y"], {
          then_branch: { graph: branch("Add") },
          else_branch: { graph: branch("Mul") },
        }),
        node("Twice", ["x"], ["outer"], {}, { domain: "own" }),
      ],
    }),
  );
  assert.deepEqual(module.call(input, eg.tensor(true)).arraySync(), [-3, -6]);
  assert.deepEqual(module.call(input, eg.tensor(false)).arraySync(), [-2, -8]);
});

test("a cycle is refused with its names", async () => {
  const nodes = [
    node("Neg", ["x"], ["y0"]),
    node("Add", ["y0", "c"], ["a"]),
    node("Neg", ["a"], ["b"]),
    node("Neg", ["b"], ["c"]),
    node("Neg", ["c"], ["y"]),
  ];
  await assert.rejects(onnx.load(one({ nodes })), {
    code: "InvalidArgument",
    message: /cycle.*: "c", "b", "a", "c"\.$/,
  });
  await assert.rejects(onnx.load(one({ nodes: [node("Neg", ["y"], ["y"])] })), /cycle.*"y", "y"/);
  await assert.rejects(onnx.load(one({ nodes: [node("Neg", ["z"], ["y"])] })), /"z".* no node/);
});

test("a long chain in reverse order", async () => {
  const count = 20_000;
  const nodes = Array.from({ length: count }, (_, i) =>
    node("Neg", [i === 0 ? "x" : `v${i - 1}`], [i === count - 1 ? "y" : `v${i}`]),
  );
  const module = await onnx.load(one({ nodes: nodes.reverse() }));
  assert.deepEqual(module.call(input).arraySync(), [1, 2]);
});
