// Files that are damaged or made to do harm: each is refused with a reason, at once.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as onnx from "edgegrad/onnx";
import { cpuSeconds } from "../support/cpu_time.mjs";
import { eg } from "../support/engine.mjs";
import {
  field,
  functionProto,
  graph,
  model,
  node,
  tensorProto,
  valueInfo,
} from "../support/onnx_models.mjs";

const kOutput = [valueInfo("y", null)];
const identity = (inputs, more = {}) =>
  model({ nodes: [node("Identity", inputs, ["y"])], outputs: kOutput, ...more });

// It takes a fraction of a second.
const kMostSeconds = 15;

async function refusal(bytes) {
  const start = cpuSeconds();
  const error = await onnx.load(bytes).then(
    () => assert.fail("nothing was thrown"),
    (one) => one,
  );
  assert.ok(error instanceof eg.EdgeGradError, error?.stack ?? String(error));
  assert.equal(error.code, "InvalidArgument", error.message);
  assert.match(error.message, /^\[onnx\.load\] \S/);
  assert.ok(cpuSeconds() - start < kMostSeconds);
  return error.message;
}

const nested = (depth) => {
  let inner = graph({ nodes: [node("Identity", ["x"], ["b"])], outputs: [valueInfo("b", null)] });
  for (let i = 0; i < depth; i++) {
    const branches = {
      then_branch: { graph: inner },
      else_branch: { graph: graph({ nodes: [] }) },
    };
    inner = graph({ nodes: [node("If", ["c"], ["b"], branches)], outputs: [valueInfo("b", null)] });
  }
  return Uint8Array.from([...field(7, inner), ...field(8, field(2, 17))]);
};

// Each function calls the next one twice.
const bomb = Array.from({ length: 40 }, (_, i) =>
  functionProto(`f${i}`, {
    inputs: ["a"],
    outputs: ["b"],
    nodes: [
      node(`f${i + 1}`, ["a"], ["c"], {}, { domain: "own" }),
      node(`f${i + 1}`, ["c"], ["b"], {}, { domain: "own" }),
    ],
  }),
);
const callOf = (name, functions) =>
  model({
    domains: { own: 1 },
    functions,
    inputs: [valueInfo("x", [1])],
    outputs: kOutput,
    nodes: [node(name, ["x"], ["y"], {}, { domain: "own" })],
  });

const tensorWith = (dims, bytes) => [
  ...dims.flatMap((size) => field(1, size)),
  ...field(2, 1),
  ...field(8, "w"),
  ...field(9, new Uint8Array(bytes)),
];

const kHostile = {
  "an empty file": [new Uint8Array(), /without a graph/],
  "a file of something else": [
    new TextEncoder().encode("<!doctype html><title>404</title>"),
    /HTML page/,
  ],
  "a length beyond the end": [Uint8Array.from([0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f]), /damaged/],
  "a varint that does not end": [new Uint8Array(40).fill(0xff), /damaged/],
  "a group, which protobuf no longer has": [Uint8Array.from([0x0b, 0x0c]), /damaged/],
  "a field of another type": [Uint8Array.from([0x38, 0x01]), /damaged/],
  "a cycle of nodes": [
    model({
      nodes: [node("Relu", ["b"], ["a"]), node("Relu", ["a"], ["b"])],
      outputs: [valueInfo("b", null)],
    }),
    /cycle.*: "b", "a", "b"\./,
  ],
  "an input that nothing makes": [identity(["z"]), /"z".*made by no node\./],
  "an output that nothing makes": [
    model({ nodes: [], outputs: kOutput }),
    /no node makes the output "y"/,
  ],
  "two values with a name": [
    model({ inputs: [valueInfo("y", [1])], nodes: [node("Relu", ["y"], ["y"])], outputs: kOutput }),
    /given to two/,
  ],
  "two initializers with a name": [
    identity(["w"], { initializers: [tensorProto("w", [1], [1]), tensorProto("w", [1], [2])] }),
    /two initializers/,
  ],
  "sizes of no memory": [
    identity(["w"], { initializers: [tensorWith([2 ** 31, 2 ** 31, 2 ** 31], 8)] }),
    /impossible shape/,
  ],
  "a size below zero": [
    identity(["w"], { initializers: [tensorWith([-1], 8)] }),
    /impossible shape/,
  ],
  "a size of more bytes than there are": [
    identity(["w"], { initializers: [tensorWith([1000000], 8)] }),
    /needs 4000000 bytes, got 8/,
  ],
  "fewer numbers than the shape has": [
    identity(["w"], { initializers: [tensorWith([2], 4)] }),
    /needs 8 bytes, got 4/,
  ],
  "an unknown element type": [
    identity(["w"], { initializers: [[...field(1, 1), ...field(2, 99), ...field(8, "w")]] }),
    /unknown type 99/,
  ],
  "graphs inside each other without end": [nested(150), /inside each other/],
  "messages inside each other without end": [nested(400), /deep/],
  "a function that calls itself": [
    callOf("f", [
      functionProto("f", {
        inputs: ["a"],
        outputs: ["b"],
        nodes: [node("f", ["a"], ["b"], {}, { domain: "own" })],
      }),
    ]),
    /inside itself/,
  ],
  "functions that call each other twice": [
    callOf("f0", [
      ...bomb,
      functionProto("f40", { inputs: ["a"], outputs: ["b"], nodes: [node("Relu", ["a"], ["b"])] }),
    ]),
    /more than \d+ nodes/,
  ],
  "a function without its output": [
    callOf("f", [
      functionProto("f", { inputs: ["a"], outputs: ["b"], nodes: [node("Relu", ["a"], ["c"])] }),
    ]),
    /no node makes the output "b"/,
  ],
  "a sparse initializer": [
    Uint8Array.from([
      ...field(7, [
        ...field(1, node("Relu", ["w"], ["y"])),
        ...field(15, []),
        ...field(5, tensorProto("w", [1], [1])),
        ...field(12, kOutput[0]),
      ]),
      ...field(8, field(2, 17)),
    ]),
    /sparse initializer/,
  ],
};

describe("hostile files are refused:", () => {
  for (const [what, [bytes, expected]] of Object.entries(kHostile)) {
    test(what, async () => {
      assert.match(await refusal(bytes), expected);
    });
  }

  test("a file cut at any place", async () => {
    const whole = identity(["w"], { initializers: [tensorProto("w", [2], [1, 2])] });
    for (let length = 0; length < whole.length; length++) {
      const cut = whole.slice(0, length);
      const error = await onnx.load(cut).then(
        () => null,
        (one) => one,
      );
      // Cut after the graph only the version is missing, with which Identity exists, too.
      assert.ok(error === null || error instanceof eg.EdgeGradError, error?.stack);
    }
  });

  test("small constants that broadcast to a large one", async () => {
    const constant = (name, shape) =>
      node("Constant", [], [name], {
        value: { tensor: tensorProto("", shape, new Array(200).fill(1), 7) },
      });
    const module = await onnx.load(
      model({
        nodes: [
          constant("a", [200, 1, 1, 1]),
          constant("b", [200, 1, 1]),
          constant("c", [200, 1]),
          node("Add", ["a", "b"], ["ab"]),
          node("Add", ["ab", "c"], ["abc"]),
          node("ReduceSum", ["abc"], ["y"]),
        ],
        outputs: kOutput,
      }),
    );
    assert.equal(module.outputs.length, 1);
  });
});

describe("what is not supported", () => {
  test("is listed in one error", async () => {
    const message = await refusal(
      model({
        domains: { "com.example": 1 },
        inputs: [valueInfo("x", [1])],
        outputs: kOutput,
        nodes: [
          node("Quux", ["x"], ["a"], {}, { domain: "com.example", name: "first" }),
          node("Quux", ["a"], ["b"], {}, { domain: "com.example" }),
          node("Frob", ["b"], ["c"]),
          node("Relu", ["c"], ["d"], { sparkle: 1 }),
          node("Gelu", ["d"], ["y"]),
        ],
      }),
    );
    assert.match(message, /op com\.example\.Quux in version 1 \(2 times, first in "first"\)/);
    assert.match(message, /op Frob in version 17 \(1 time\)/);
    assert.match(message, /attribute "sparkle" of Relu/);
    assert.match(message, /op Gelu in version 17/);
  });

  test("includes versions newer than the newest known", async () => {
    assert.match(
      await refusal(identity(["x"], { inputs: [valueInfo("x", [1])], opset: 99 })),
      /opset 99/,
    );
  });

  test("is named with its node when it shows only in a run", async () => {
    const module = await onnx.load(
      model({
        inputs: [valueInfo("a", null), valueInfo("b", null)],
        outputs: kOutput,
        nodes: [node("MatMul", ["a", "b"], ["y"], {}, { name: "product" })],
      }),
    );
    assert.throws(
      () => module.call(eg.zeros([2, 3]), eg.zeros([2, 3])),
      (error) =>
        error.code === "ShapeMismatch" && /node MatMul "product": \[mm\]/.test(error.message),
    );
  });
});
