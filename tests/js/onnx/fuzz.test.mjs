// Damaged .onnx files: load() and inspect() either return something or throw an EdgeGradError, do not hang, and load() takes no more
// than a few times the size of the file.
//
// EG_FUZZ_CASES sets the number of files, EG_FUZZ_SEED the first seed.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as onnx from "edgegrad/onnx";
import { cpuSeconds } from "../support/cpu_time.mjs";
import { eg } from "../support/engine.mjs";
import {
  functionProto,
  graph,
  model,
  node,
  tensorProto,
  valueInfo,
} from "../support/onnx_models.mjs";

const kCases = Number(process.env.EG_FUZZ_CASES ?? 4000);
const kSeed = Number(process.env.EG_FUZZ_SEED ?? 1);
// Each takes milliseconds, but other tests run at the same time.
const kMostSeconds = 10;

const branch = (op) => graph({ nodes: [node(op, ["x"], ["b"])], outputs: [valueInfo("b", ["n"])] });

const kModels = [
  model({
    inputs: [valueInfo("x", ["n", 4])],
    outputs: [valueInfo("y", ["n", 2])],
    initializers: [
      tensorProto("fc.weight", [2, 4], new Array(8).fill(1)),
      tensorProto("fc.bias", [2], [1, 2]),
    ],
    nodes: [
      node("Gemm", ["x", "fc.weight", "fc.bias"], ["h"], { transB: 1, alpha: { float: 0.5 } }),
      node("Softmax", ["h"], ["y"], { axis: -1 }),
    ],
  }),
  model({
    inputs: [valueInfo("x", [1, 2, 8, 8])],
    outputs: [valueInfo("y", [1, 3, 4, 4])],
    initializers: [
      tensorProto("w", [3, 2, 3, 3], new Array(54).fill(0.1)),
      tensorProto("to", [2], [1, -1], 7),
    ],
    nodes: [
      node("Conv", ["x", "w"], ["h"], {
        pads: [1, 1, 1, 1],
        strides: [2, 2],
        kernel_shape: [3, 3],
      }),
      node("Shape", ["h"], ["s"]),
      node("ConstantOfShape", ["to"], ["zeros"]),
      node("Slice", ["s", "to", "to"], ["part"]),
      node("Concat", ["to", "part"], ["all"], { axis: 0 }),
      node("Expand", ["h", "all"], ["wide"]),
      node("Relu", ["h"], ["y"]),
    ],
  }),
  model({
    domains: { own: 1 },
    functions: [
      functionProto("Twice", {
        inputs: ["a"],
        outputs: ["b"],
        attributes: ["alpha"],
        nodes: [
          node("LeakyRelu", ["a"], ["l"], { alpha: { ref: "alpha" } }),
          node("Add", ["l", "l"], ["b"]),
        ],
      }),
    ],
    inputs: [valueInfo("x", ["n"]), valueInfo("c", [], 9)],
    outputs: [valueInfo("y", ["n"])],
    nodes: [
      node("If", ["c"], ["h"], {
        then_branch: { graph: branch("Relu") },
        else_branch: { graph: branch("Neg") },
      }),
      node("Constant", [], ["k"], { value: { tensor: tensorProto("k", [3], [1, 2, 3], 7) } }),
      node("Tile", ["h", "k"], ["t"]),
      node("Twice", ["h"], ["y"], { alpha: { float: 0.1 } }, { domain: "own" }),
    ],
  }),
];

// Numbers that depend on nothing but the seed.
function generator(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

function damaged(bytes, random) {
  let result = [...bytes];
  // Half of the files keep their structure, and so reach the checks of values.
  const kinds = random(2) === 0 ? 2 : 6;
  for (let i = 0, count = 1 + random(4); i < count; i++) {
    const at = random(result.length);
    const kind = random(kinds);
    if (kind === 0) result[at] = random(256);
    else if (kind === 1) result[at] ^= 1 << random(8);
    else if (kind === 2) result.splice(at, 1 + random(8));
    else if (kind === 3) result.splice(at, 0, ...result.slice(at, at + random(32)));
    else if (kind === 4) result = result.slice(0, at + 1);
    else result.splice(at, 0, 0xff, 0xff, 0xff, 0xff, random(128));
    if (result.length === 0) result = [0];
  }
  return Uint8Array.from(result);
}

/** The engine's memory that one file may take: what its tensors take at most, and what the engine allocates at once. */
const mostMemory = (size) => 4 * size + 2 ** 16;

test(`${kCases} damaged files from seed ${kSeed}`, async (t) => {
  let loaded = 0;
  for (let i = 0; i < kCases; i++) {
    const random = generator(kSeed + i * 7919);
    const bytes = damaged(kModels[i % kModels.length], random);
    const start = cpuSeconds();
    const assertRefusal = (error) => {
      const text = `case ${i}: ${error?.stack ?? error}`;
      assert.ok(error instanceof eg.EdgeGradError && error.code !== "Internal", text);
      return null;
    };
    await onnx.inspect(bytes).catch(assertRefusal);
    const { cpuBytes } = eg.memory();
    // A Blob is read in parts.
    const source = i % 8 === 0 ? new Blob([bytes]) : bytes;
    const module = await onnx.load(source).catch(assertRefusal);
    if (module !== null) loaded++;
    const taken = eg.memory().cpuBytes - cpuBytes;
    assert.ok(taken <= mostMemory(bytes.length), `case ${i}: ${taken} bytes of memory`);
    assert.ok(cpuSeconds() - start < kMostSeconds, `case ${i} takes too long`);
    for (const tensor of module === null ? [] : [...module.parameters(), ...module.buffers()])
      tensor.dispose();
  }
  t.diagnostic(`${loaded} of ${kCases} could still be loaded`);
});
