// Numbers computed by PyTorch: ops, random numbers, initial weights and complete trainings.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { readJson } from "../support/files.mjs";
import { functionOf } from "../support/op_samples.mjs";

const kArrays = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  bool: Uint8Array,
  complex64: Float32Array,
  complex128: Float64Array,
};
const kTolerances = { float32: { atol: 2e-5, rtol: 2e-5 }, float64: { atol: 1e-9, rtol: 1e-7 } };
const kSpelled = { nan: Number.NaN, inf: Infinity, "-inf": -Infinity };

describe("ops give PyTorch's results and gradients", () => {
  for (const file of [
    "ops",
    "composites",
    "more_composites",
    "fourier",
    "images",
    "matrices",
    "special",
    "complex_matrices",
  ]) {
    const { cases } = readJson(`tests/golden/${file}.json`);
    cases.forEach((one, i) => {
      const { op, args, kw } = one;
      test(`${file} ${i} ${op} ${JSON.stringify(args)} ${JSON.stringify(kw)}`, () =>
        eg.scope(() => runCase(one)));
    });
  }
});

function runCase({ op, args, kw, tensors, out, gradOut, grads, grads2, r }) {
  const inputs = tensors.map(make);
  const values = args.map((arg) => argument(arg, inputs));
  const named = Object.entries(kw).map(([key, arg]) => [key, argument(arg, inputs)]);
  const options = named.length ? [Object.fromEntries(named)] : [];
  const results = [functionOf(op)(...values, ...options)].flat();
  compareAll(results, out, "output");
  if (!grads) return;
  const isWanted = (_, i) => inputs[i].requiresGrad;
  const wanted = inputs.filter(isWanted);
  const actual = eg.autograd.grad(
    results.filter((_, i) => gradOut[i]),
    wanted,
    {
      gradOutputs: gradOut.filter(Boolean).map(make),
      createGraph: Boolean(grads2),
      allowUnused: true,
    },
  );
  compareAll(actual, grads.filter(isWanted), "gradient");
  if (grads2) compareSecond(wanted, actual, r.filter(isWanted), grads2.filter(isWanted));
}

// The gradient of the real part of sum(r * gradient).
function compareSecond(inputs, grads, weights, expected) {
  const terms = grads.flatMap((grad, i) =>
    weights[i] && grad?.requiresGrad ? [grad.mul(make(weights[i])).sum().real()] : [],
  );
  if (terms.length === 0) {
    assert.ok(
      expected.every((spec) => spec === null || spec.data.every((value) => Number(value) === 0)),
    );
    return;
  }
  const total = terms.reduce((a, b) => a.add(b));
  compareAll(eg.autograd.grad(total, inputs, { allowUnused: true }), expected, "second gradient");
}

function argument(arg, inputs) {
  if (typeof arg === "string" && arg in kSpelled) return kSpelled[arg];
  if (typeof arg !== "object" || arg === null || Array.isArray(arg)) return arg;
  return "t" in arg ? inputs[arg.t] : arg.ts.map((i) => inputs[i]);
}

function make({ dtype, shape, data, requiresGrad = false }) {
  const convert = dtype === "int64" ? BigInt : (value) => kSpelled[value] ?? Number(value);
  return eg.tensor(kArrays[dtype].from(data, convert), { dtype, shape, requiresGrad });
}

function compareAll(actual, expected, what) {
  assert.equal(actual.length, expected.length, `number of ${what}s`);
  actual.forEach((tensor, i) => {
    compareOne(tensor, expected[i], `${what} ${i}`);
  });
}

// A gradient of zeros may also be null.
function compareOne(tensor, spec, what) {
  const tolerance = { ...(kTolerances[spec?.dtype] ?? kTolerances.float64), what };
  const size = tensor?.numel ?? spec?.data.length ?? 0;
  if (tensor !== null && spec) {
    assert.deepEqual(tensor.shape, spec.shape, `shape of ${what}`);
    assert.equal(tensor.dtype, spec.dtype, `dtype of ${what}`);
  }
  const zeros = new Float64Array(size);
  assertClose(tensor?.dataSync() ?? zeros, spec?.data ?? zeros, tolerance);
}

describe("manualSeed gives PyTorch's numbers", () => {
  for (const { seed, calls } of readJson("tests/golden/random.json").sequences) {
    test(`seed ${seed}: ${calls.length} calls`, () => {
      eg.manualSeed(seed);
      calls.forEach((call, i) => {
        if (call.module === undefined) compareDraw(call, `call ${i} ${call.op}`);
        else compareModule(call);
      });
    });
  }
});

function compareDraw({ op, args, kw, shape, dtype, data }, what) {
  const x = eg[op](...args, kw);
  assert.deepEqual(x.shape, shape);
  assert.equal(x.dtype, dtype);
  const isExact = op !== "randn";
  assertClose(
    x.dataSync(),
    data,
    isExact ? { rtol: 0, atol: 0, what } : { rtol: 1e-6, atol: 1e-6, what },
  );
}

function compareModule({ module, args, state }) {
  const actual = new eg.nn[module.replace("nn.", "")](...args).stateDict();
  assert.deepEqual(Object.keys(actual), Object.keys(state));
  for (const [key, { data }] of Object.entries(state)) {
    assertClose(actual[key].dataSync(), data, { rtol: 1e-6, atol: 1e-6, what: `${module} ${key}` });
  }
}

describe("training gives PyTorch's losses at every step", () => {
  const { programs } = readJson("tests/golden/training.json");
  const settings = {
    "mlp-adam": [0, (params) => new eg.optim.Adam(params, { lr: 1e-2 })],
    "mlp-sgd-momentum": [
      1,
      (params) => new eg.optim.SGD(params, { lr: 0.1, momentum: 0.9, weightDecay: 1e-3 }),
    ],
  };
  for (const [name, expected] of Object.entries(programs)) {
    test(name, () => {
      const [seed, makeOptimizer] = settings[name];
      eg.manualSeed(seed);
      const x = eg.randn([64, 10]);
      const y = eg.randint(0, 3, [64]);
      const model = new eg.nn.Sequential(
        new eg.nn.Linear(10, 32),
        new eg.nn.Tanh(),
        new eg.nn.Linear(32, 3),
      );
      const optimizer = makeOptimizer(model.parameters());
      const losses = expected.map(() =>
        eg.scope(() => {
          const loss = eg.crossEntropy(model.call(x), y);
          optimizer.zeroGrad();
          loss.backward();
          optimizer.step();
          return loss.item();
        }),
      );
      assertClose(losses, expected, { rtol: 1e-4, atol: 0, what: "loss" });
    });
  }
});
