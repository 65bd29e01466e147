// For every op in the table, vmap() returns the same values and gradients as the op applied to each sample.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { assertClose } from "../support/assert.mjs";
import { compositeTable } from "../support/composite_samples.mjs";
import { eg } from "../support/engine.mjs";
import { comparable, functionOf, makeRandom, opTable, samplesOf } from "../support/op_samples.mjs";

const { vmap } = eg.func;
const kBatch = 3;

// Ops without a rule for some or all calls, which run sample by sample. This list should become shorter.
const kLooped = new Set(
  (
    "cat dequantize fillDiagonal_ indexFill indexPut indexPut_ indexSelect lstsq maskedScatter multiMarginLoss " +
    "multilabelSoftMarginLoss quantize quantizedLinear repeatInterleave viewDtype"
  ).split(" "),
);

// These refer to positions in memory, where each sample counts as a separate tensor.
const kReadsMemory = new Set(["asStrided", "asStridedScatter"]);

// Composites that read values, draw numbers, or write a batch into a tensor that is the same for all samples.
const kRefused = new Set(
  (
    "argwhere asStridedScatter bincount cov histc histogram histogramdd istft nanquantile pcaLowrank quantile " +
    "svdLowrank unique uniqueConsecutive unravelIndex"
  ).split(" "),
);

// Ops whose result sizes depend on values are rejected, as in PyTorch.
const kDependsOnData = new Set(["nonzero", "masked_select"]);

const kRandom =
  /^(rand|randn|randint|randperm|rand_like|randn_like|uniform_|normal_?|random_|exponential_|bernoulli_?|dropout|multinomial|poisson|binomial|rrelu|geometric_|cauchy_|log_normal_)$/;

const looped = new Set();
const warn = console.warn;
console.warn = (text) => {
  const name = /rule for this call of (\w+)/.exec(text)?.[1];
  if (name === undefined) warn(text);
  else looped.add(name);
};
after(() => {
  console.warn = warn;
});

const isTensor = (value) => value instanceof eg.Tensor;
const isDifferentiable = (tensor) => /float|complex/.test(tensor.dtype);

// Batches of an op's tensors: three different samples, or the same tensor for all.
function variants(tensors) {
  const all = tensors.map(() => true);
  const single = tensors.length < 2 ? [] : tensors.map((_, i) => tensors.map((_, k) => i === k));
  return [all, ...single];
}

// The samples of a tensor: the tensor, and others with its elements in a different order, which stay in every op's domain.
function samplesLike(tensor) {
  const values = tensor.detach();
  const count = values.numel;
  if (values.dtype === "bool" || /int/.test(values.dtype)) {
    return [values, values.clone(), values.clone()];
  }
  const nearby = (shift) =>
    values
      .reshape([count])
      .mul(1 + shift)
      .reshape(values.shape);
  return [values, nearby(0.01), nearby(-0.01)];
}

function call(op, args) {
  const [first, ...rest] = args;
  const result = functionOf(op.js)(...(op.js.endsWith("_") ? [first.clone(), ...rest] : args));
  return comparable(op, Array.isArray(result) ? result : [result]);
}

const parts = (tensor) => (/complex/.test(tensor.dtype) ? eg.viewAsReal(tensor) : tensor);

// The gradients of a weighted sum of results with respect to the leaves.
function gradients(outputs, leaves) {
  const random = makeRandom("weights");
  const sums = outputs
    .filter((one) => one.requiresGrad)
    .map((one) => {
      const real = parts(one);
      const weights = Float64Array.from({ length: real.numel }, () => random() + 0.5);
      return real.mul(eg.tensor(weights, { shape: real.shape })).sum();
    });
  if (sums.length === 0) return [];
  const total = sums.reduce((a, b) => a.add(b));
  return eg.autograd.grad(total, leaves, { materializeGrads: true });
}

function rowsOrNull(fn) {
  try {
    return fn();
  } catch {
    return null;
  }
}

function sampleOf(op, batch, dim, place) {
  const sample = eg.select(batch, dim, place);
  return kReadsMemory.has(op.js) ? sample.clone() : sample;
}

function checkVariant(op, args, which, dim) {
  const flat = args.flat(2).filter(isTensor);
  const batches = flat.map((tensor, i) => {
    const stacked = which[i]
      ? eg.stack(samplesLike(tensor), Math.min(dim, tensor.ndim))
      : tensor.detach().clone();
    return isDifferentiable(stacked) ? stacked.requiresGrad_() : stacked;
  });
  const dims = flat.map((tensor, i) => (which[i] ? Math.min(dim, tensor.ndim) : null));
  const withTensors = (tensors) => {
    let next = 0;
    const put = (value) =>
      Array.isArray(value) ? value.map(put) : isTensor(value) ? tensors[next++] : value;
    return args.map(put);
  };
  const run = (...tensors) => call(op, withTensors(tensors));
  const rows = rowsOrNull(() =>
    Array.from({ length: kBatch }, (_, b) =>
      run(...batches.map((batch, i) => (which[i] ? sampleOf(op, batch, dims[i], b) : batch))),
    ),
  );
  // A view of elements that are not adjacent, which no single sample is.
  if (rows === null && dim > 0) return;
  const expected = rows[0].map((_, k) => eg.stack(rows.map((row) => row[k])));
  const actual = vmap((...tensors) => run(...tensors), { inDims: dims })(...batches);
  const what = `${op.js}, batched ${which}, dim ${dim}`;
  assert.equal(actual.length, expected.length, what);
  actual.forEach((tensor, k) => {
    assert.deepEqual(tensor.shape, expected[k].shape, what);
    assert.equal(tensor.dtype, expected[k].dtype, what);
    assert.equal(tensor.requiresGrad, expected[k].requiresGrad, `${what}: requiresGrad`);
    assertClose(parts(tensor).dataSync(), parts(expected[k]).dataSync(), {
      rtol: 1e-9,
      atol: 1e-11,
      what,
    });
  });
  const leaves = batches.filter((one) => one.requiresGrad);
  const wanted = gradients(expected, leaves);
  gradients(actual, leaves).forEach((gradient, k) => {
    assertClose(parts(gradient).dataSync(), parts(wanted[k]).dataSync(), {
      rtol: 1e-7,
      atol: 1e-9,
      what: `${what}: gradient ${k}`,
    });
  });
}

test("what vmap() cannot do it refuses", () => {
  for (const op of compositeTable.filter(({ js }) => kRefused.has(js))) {
    const outcomes = samplesOf(op).flatMap(({ make }) => {
      const args = make();
      return variants(args.flat(2).filter(isTensor)).map((which) =>
        outcomeOf(() => checkVariant(op, args, which, 0)),
      );
    });
    assert.ok(outcomes.includes("InvalidArgument"), op.js);
  }
});

/** Returns the code of the error that `fn` throws, or null. */
function outcomeOf(fn) {
  try {
    eg.scope(fn);
    return null;
  } catch (error) {
    return error.code;
  }
}

describe("vmap of an op is the op for every sample", () => {
  const isTaken = (op) =>
    op.kind !== "internal" &&
    op.kind !== "factory" &&
    !op.name.endsWith("empty_like") &&
    !kRandom.test(op.name) &&
    !kDependsOnData.has(op.name);
  for (const op of [
    ...opTable.filter(isTaken),
    ...compositeTable.filter(({ js }) => !kRefused.has(js)),
  ]) {
    test(op.js, () => {
      for (const { make } of samplesOf(op)) {
        eg.scope(() => {
          const args = make();
          if (args === null) return;
          const tensors = args.flat(2).filter(isTensor);
          if (tensors.length === 0) return;
          for (const which of variants(tensors)) {
            if (op.name.endsWith("_") && !which[0]) continue;
            checkVariant(op, args, which, 0);
          }
          if (!kReadsMemory.has(op.js)) checkVariant(op, args, variants(tensors)[0], 1);
        });
      }
    });
  }

  test("ops that draw random numbers are rejected unless `randomness` allows them", () => {
    const next = () => eg.rand([1]).item();
    const drawsNothing = (run) => {
      eg.manualSeed(7);
      const wanted = next();
      eg.manualSeed(7);
      run();
      return next() === wanted;
    };
    for (const op of opTable.filter(({ kind }) => kind !== "internal")) {
      for (const { text, make } of samplesOf(op)) {
        const args = eg.noGrad(() => make());
        if (args === null || drawsNothing(() => call(op, args))) continue;
        assert.throws(
          () => vmap(() => call(op, args)[0])(eg.ones([2])),
          /randomness: "error"/,
          `${op.js}(${text})`,
        );
      }
    }
  });

  test("the ops that run sample by sample are known", (t) => {
    t.diagnostic(`sample by sample: ${[...looped].sort().join(" ")}`);
    assert.deepEqual([...looped].sort(), [...kLooped].sort());
  });
});
