// Laws that every composite obeys: composites are called like ops, and the laws are checked with their samples.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { build } from "esbuild";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { aliases, compositeTable } from "../support/composite_samples.mjs";
import { eg } from "../support/engine.mjs";
import { kRoot } from "../support/files.mjs";
import { callOp, opTable, samplesOf } from "../support/op_samples.mjs";

// Functions of the package that are not ops: those that start and stop the engine, modes, and functions that return no tensors
// or work on JavaScript values.
const kNoOps = [
  "addDevtoolsFormatter",
  "allclose",
  "autocast",
  "broadcastShapes",
  "capture",
  "ctcLoss",
  "enableGrad",
  "equal",
  "expose",
  "finfo",
  "getDefaultDtype",
  "iinfo",
  "inferenceMode",
  "init",
  "isGradEnabled",
  "isInferenceModeEnabled",
  "keep",
  "manualSeed",
  "randintLike",
  "memory",
  "noGrad",
  "preload",
  "runtime",
  "scope",
  "setDefaultDtype",
  "setGradEnabled",
  "setWarnAlways",
  "shutdown",
  "spawn",
  "sparseCooTensor",
  "sparseCsrTensor",
  "tensor",
  "tripletMarginWithDistanceLoss",
  "warmup",
  "webgpuStats",
  "deviceLost",
  "errorFrom",
  "fromGPUBuffer",
  "fromImage",
  "onDeviceLost",
  "toCanvas",
];

const isTensor = (value) => value instanceof eg.Tensor;
const isDifferentiable = (tensor) => isTensor(tensor) && tensor.requiresGrad;

describe("derivatives to second order are those of differences:", () => {
  for (const op of compositeTable) {
    for (const { text, make } of samplesOf(op)) {
      test(`${op.js}(${text})`, (t) => {
        const args = make();
        const leaves = args.flat().filter(isDifferentiable);
        const results = (...given) =>
          callOp(op, substituted(args, leaves, given)).filter(isDifferentiable);
        if (leaves.length === 0 || results(...leaves).length === 0) {
          t.skip("no result has a gradient");
          return;
        }
        assert.ok(eg.autograd.gradcheck(results, leaves));
        assert.ok(eg.autograd.gradgradcheck(results, leaves));
      });
    }
  }
});

/** Returns the arguments with the leaves replaced by other tensors. */
function substituted(value, leaves, given) {
  if (Array.isArray(value)) return value.map((one) => substituted(one, leaves, given));
  const place = leaves.indexOf(value);
  return place < 0 ? value : given[place];
}

test("a program that imports none has none in its bundle", async () => {
  const contents = 'import { ones } from "./index.ts"; console.log(ones);';
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: `${kRoot}web/src` },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    external: ["./wasm/*", "node:*", "webgpu"],
    loader: { ".wgsl": "text" },
  });
  const [{ text }] = outputFiles;
  assert.match(text, /"ones"/);
  // Some composites replace an op of the engine with the same name.
  const isAlone = ({ js }) => !opTable.some((op) => op.js === js);
  const found = compositeTable.filter(
    (one) => isAlone(one) && new RegExp(`\\("${one.js}",`).test(text),
  );
  assert.deepEqual(
    found.map(({ js }) => js),
    [],
  );
});

test("every function of the package is an op of the table, has samples, or is known to be none", () => {
  const ops = [...opTable, ...compositeTable].flatMap(({ js }) => [js, `${js}_`]);
  const others = aliases.map(({ alias }) => alias);
  const known = new Set([...ops, ...others, ...kNoOps]);
  const isFunction = ([name, value]) => typeof value === "function" && /^[a-z]/.test(name);
  const unknown = Object.entries(eg).filter((entry) => isFunction(entry) && !known.has(entry[0]));
  assert.deepEqual(
    unknown.map(([name]) => name),
    [],
  );
});

describe("of every composite:", () => {
  for (const op of compositeTable) {
    test(`${op.js} leaves nothing behind but its results, and its operands as they are`, () =>
      forSamples(op, (args, text) => {
        const tensors = args.flat().filter(isTensor);
        const before = tensors.map(stateOf);
        const handles = eg.memory().jsHandles;
        const results = callOp(op, args).filter(isTensor);
        assert.equal(eg.memory().jsHandles - handles, results.length, text);
        assert.deepEqual(tensors.map(stateOf), before, text);
      }));

    test(`${op.js} gives the same for views that lie otherwise in memory`, () =>
      forSamples(op, (args, text) => {
        const strided = mapped(args, (tensor) => eg.stack([tensor, tensor], -1).select(-1, 1));
        assert.deepEqual(callOp(op, strided).map(valuesOf), callOp(op, args).map(valuesOf), text);
      }));

    test(`${op.js} takes whole numbers as bigints`, () =>
      forSamples(op, (args, text) => {
        const bigger = mapped(args, (tensor) => tensor, toBigInt);
        assert.deepEqual(callOp(op, bigger).map(valuesOf), callOp(op, args).map(valuesOf), text);
      }));

    test(`${op.js} takes or refuses tensors without elements`, () =>
      forSamples(op, (args, text) => {
        const emptied = mapped(args, (tensor) =>
          tensor.ndim > 0 ? tensor.narrow(0, 0, 0) : tensor,
        );
        try {
          callOp(op, emptied);
        } catch (error) {
          assert.ok(error instanceof eg.EdgeGradError, `${text}: ${error.stack}`);
          assert.notEqual(error.code, "Internal", text);
          assert.ok(error.message.startsWith(`[${op.js}]`), `${text}: ${error.message}`);
        }
      }));
  }
});

test("counts beyond all memory are refused before anything is filled", () => {
  const x = eg.ones([1000]);
  const calls = [
    () => eg.combinations(x, 9),
    () => eg.combinations(eg.ones([1]), 2 ** 40, true),
    () => eg.tensorSplit(x, 2 ** 40),
    () => eg.mvlgamma(x, 2 ** 40),
    () => eg.vander(x, 2 ** 50),
    () => eg.histc(x, 2 ** 50),
    () => eg.bincount(eg.tensor([1n]), null, 2 ** 50),
    () => eg.triuIndices(2 ** 30, 2 ** 30),
    () => eg.unravelIndex(eg.tensor([1n]), Array(100_000).fill(1)),
  ];
  for (const call of calls) {
    assert.throws(
      call,
      (error) => ["OutOfMemory", "InvalidArgument"].includes(error.code),
      `${call}`,
    );
  }
});

function forSamples(op, check) {
  for (const { text, make } of samplesOf(op)) eg.scope(() => check(make(), `${op.js}(${text})`));
}

const toBigInt = (value) => (Number.isInteger(value) ? BigInt(value) : value);

function mapped(value, change, changePlain = (plain) => plain) {
  const inner = (one) => mapped(one, change, changePlain);
  if (Array.isArray(value)) return value.map(inner);
  if (isTensor(value)) return change(value);
  const isPlain = typeof value === "object" && value !== null;
  if (!isPlain) return changePlain(value);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inner(one)]));
}

const valuesOf = (tensor) => [tensor.dtype, tensor.shape, tensor.dataSync()];

const stateOf = (tensor) => [tensor.version, tensor.requiresGrad, valuesOf(tensor)];

test("composites refuse dtypes with which they would be wrong", () => {
  const [x, yes] = [eg.ones([3]), eg.ones([3], { dtype: "bool" })];
  const refused = (run, text) => assertThrows(run, "DtypeMismatch", text);
  for (const op of [eg.trapezoid, eg.cumulativeTrapezoid]) {
    refused(() => op(yes), /numbers, got bool/);
    refused(() => op(x, yes), /numbers, got bool/);
  }
  const { householderProduct, luSolve } = eg.linalg;
  const whole = eg.ones([2], { dtype: "int64" });
  refused(() => householderProduct(eg.ones([3, 2]), whole), /tau.*float32/);
  for (const dtype of ["bool", "complex64", "float32"]) {
    const pivots = eg.ones([2], { dtype });
    assertThrows(() => luSolve(eg.eye(2), pivots, eg.eye(2)), "ShapeMismatch", /whole numbers/);
  }
});

test("an infinite value spoils no slopes of gradient() but those of its neighbors", () => {
  const values = eg.tensor([1, 2, Infinity, 4, Number.NaN, 6, 7]);
  const [slopes] = eg.gradient(values, { spacing: 0.5 });
  assert.deepEqual([...slopes.dataSync()], [2, Infinity, 2, Number.NaN, 2, Number.NaN, 2]);
  assertTensor(eg.gradient(eg.tensor([1, 4, 9, 16]), { edgeOrder: 2 })[0], [2, 4, 6, 8]);
  assertTensor(eg.gradient(eg.tensor([1, 4]))[0], [3, 3]);
});

test("histogram() takes weights of the dtype of its input", () => {
  const values = eg.tensor([1, 2, 3]);
  for (const dtype of ["float64", "int64", "bool"]) {
    const weight = eg.ones([3], { dtype });
    assertThrows(() => eg.histogram(values, 2, { weight }), "DtypeMismatch", /weight.*float32/);
  }
  assertTensor(eg.histogram(values, 2, { weight: eg.tensor([1, 2, 4]) })[0], [1, 6]);
});

test("histogram() has 100 bins where none are given", () => {
  const [counts, edges] = eg.histogram(eg.tensor([0, 0.5, 1]));
  assert.deepEqual([counts.shape, edges.shape, counts.sum().item()], [[100], [101], 3]);
  assert.equal(eg.histogram(eg.tensor([0, 1]), { density: true })[0].shape[0], 100);
});

describe("histogram() of a range without a width", () => {
  const both = (values, ...rest) =>
    eg.histogram(eg.tensor(values), 2, ...rest).map((one) => [...one.dataSync()]);
  test("extends it by a half on either side", () => {
    assert.deepEqual(both([2, 2, 2]), [
      [0, 3],
      [1.5, 2, 2.5],
    ]);
    assert.deepEqual(both([0, 0]), [
      [0, 2],
      [-0.5, 0, 0.5],
    ]);
  });
  test("that was given keeps it", () => {
    assert.deepEqual(both([2, 2, 2], [3, 3]), [
      [0, 0],
      [2.5, 3, 3.5],
    ]);
    assert.deepEqual(both([1, 2], { range: [0, 0] }), [
      [0, 0],
      [-0.5, 0, 0.5],
    ]);
  });
  test("because nothing is counted, is from 0 to 1", () => {
    assert.deepEqual(both([]), [
      [0, 0],
      [0, 0.5, 1],
    ]);
  });
  test("is extended by one by histc()", () => {
    assert.deepEqual([...eg.histc(eg.tensor([2, 2, 2]), 2).dataSync()], [0, 3]);
    assert.deepEqual([...eg.histc(eg.tensor([1, 2]), 2, 3, 3).dataSync()], [1, 1]);
  });
});
