// Distributions compared with PyTorch: values, divergences, transforms and random numbers.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { readJson } from "../support/files.mjs";

const kFiles = ["distributions", "distributions_more"].map((name) =>
  readJson(`tests/golden/${name}.json`),
);
const [distributions, divergences, draws, transforms] = [
  "distributions",
  "divergences",
  "draws",
  "transforms",
].map((kind) => kFiles.flatMap((file) => file[kind]));
const d = eg.distributions;
const kDouble = { rtol: 1e-9, atol: 1e-9 };

/** Converts lists to tensors; numbers stay as they are. */
const parameterOf = (value, dtype = "float64") =>
  Array.isArray(value) ? eg.tensor(value, { dtype }) : value;

function make(name, args, options = {}, dtype = "float64") {
  const named = Object.entries(options).map(([key, value]) => [key, parameterOf(value, dtype)]);
  const given = args.map((value) => parameterOf(value, dtype));
  return new d[name](...given, Object.fromEntries(named));
}

const assertAs = (actual, { data, shape }, tolerance = kDouble) =>
  assertTensor(actual, data, { shape, ...tolerance });

const kProperties = ["mean", "mode", "variance", "stddev"];

const kMethods = {
  entropy: (it) => it.entropy(),
  perplexity: (it) => it.perplexity(),
  logProb: (it, value) => it.logProb(value),
  cdf: (it, value) => it.cdf(value),
  icdf: (it) => it.icdf(eg.tensor(0.3, { dtype: "float64" })),
  enumerateSupport: (it) => it.enumerateSupport(),
};

// If all arguments are numbers, the result is float32 here and float64 in the reference.
const precisionOf = (args) =>
  args.length > 0 && !args.some(Array.isArray) ? { rtol: 1e-5, atol: 1e-6 } : kDouble;

describe("values as in PyTorch", () => {
  for (const { name, args, options, value, batchShape, eventShape, expected } of distributions) {
    test(`${name} ${JSON.stringify([args, options])}`, () => {
      const it = make(name, args, options);
      assert.deepEqual([...it.batchShape], batchShape);
      assert.deepEqual([...it.eventShape], eventShape);
      for (const [what, wanted] of Object.entries(expected)) {
        const actual = kProperties.includes(what)
          ? it[what]
          : kMethods[what](it, parameterOf(value));
        assertAs(actual, wanted, { ...precisionOf(args), what: `${name}.${what}` });
      }
    });
  }
});

describe("divergences as in PyTorch", () => {
  for (const { p, q, argsP, argsQ, expected } of divergences) {
    test(`${p} and ${q}`, () => {
      assertAs(d.klDivergence(make(p, argsP), make(q, argsQ)), expected);
    });
  }
});

describe("transforms as in PyTorch", () => {
  for (const { name, args, x, y, inverse, logAbsDetJacobian } of transforms) {
    test(`${name} ${JSON.stringify(args)}`, () => {
      const transform = new d[name](...args.map((one) => parameterOf(one)));
      const input = parameterOf(x);
      const output = transform.call(input);
      assertAs(output, y);
      assertAs(transform.inv.call(output), inverse);
      if (logAbsDetJacobian)
        assertAs(transform.logAbsDetJacobian(input, output), logAbsDetJacobian);
    });
  }
});

describe("random numbers as in PyTorch", () => {
  for (const { name, args, options, dtype, shape, expected } of draws) {
    test(`${name} ${JSON.stringify([args, options])}, ${dtype}`, () => {
      const it = make(name, args, options, dtype);
      eg.manualSeed(3);
      const tolerance = dtype === "float64" ? kDouble : { rtol: 3e-6, atol: 3e-6 };
      assertAs(it.sample(shape), expected, tolerance);
    });
  }
});

describe("enumerateSupport()", () => {
  test("takes expand by position or by name, and no other argument", () => {
    const it = new d.Bernoulli(parameterOf([0.2, 0.7, 0.5]));
    for (const given of [[], [true], [{ expand: true }]]) {
      assert.deepEqual(it.enumerateSupport(...given).shape, [2, 3]);
    }
    for (const given of [[false], [{ expand: false }]]) {
      assert.deepEqual(it.enumerateSupport(...given).shape, [2, 1]);
    }
    assertThrows(() => it.enumerateSupport({ Expand: false }), "InvalidArgument", /expand/);
    assertThrows(() => it.enumerateSupport(0), "InvalidArgument", /enumerateSupport/);
    assertThrows(() => new d.Normal(0, 1).enumerateSupport(), "InvalidArgument", /not implement/);
  });
});

test("the gradient of the mode of Binomial goes to the total count only where the clamp is active", () => {
  const count = eg.tensor([0, 3], { dtype: "float64", requiresGrad: true });
  const { mode } = new d.Binomial(count, parameterOf([0.5, 1]));
  assertTensor(mode, [0, 3]);
  assertTensor(eg.autograd.grad([mode.sum()], [count])[0], [0, 1]);
});

test("paramShape is the shape of the given probabilities or logits", () => {
  const table = parameterOf([[0.2, 0.8]]);
  for (const it of [new d.Categorical(table), new d.Bernoulli({ logits: table })]) {
    assert.deepEqual([...it.paramShape], [1, 2]);
  }
});
