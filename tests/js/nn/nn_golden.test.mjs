// Layers against PyTorch: results, gradients, initial values and texts. tests/golden/layers*.json has the numbers; inputs and
// parameters are computed from sines, so that only results need to be stored.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { assertClose, assertTensor } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kFolder = new URL("../../golden/", import.meta.url);
const kCases = readdirSync(kFolder)
  .filter((name) => /^layers.*\.json$/.test(name))
  .flatMap((name) => JSON.parse(readFileSync(new URL(name, kFolder), "utf8")));

const kSeed = 3;

function wave(shape, phase, scale) {
  return numbersOf(shape, (i) => Math.sin(i * 0.7 + phase) * scale);
}

function numbersOf(shape, at) {
  const count = shape.reduce((product, size) => product * size, 1);
  const data = Float64Array.from({ length: count }, (_, i) => at(i));
  return eg.tensor(data).reshape(shape);
}

function inputOf(described, i) {
  if (described === null) return null;
  if (!Array.isArray(described)) return eg.tensor(described.data, { dtype: "int64" });
  return wave(described, 0.3 * i, 2).requiresGrad_();
}

function assertSame(actual, expected, what) {
  assertClose(actual.dataSync(), expected, { what, rtol: 2e-7, atol: 2e-8 });
}

function runCase({ layer: name, args, inputs, outputs, grads, parameterGrads = {}, ...rest }) {
  const { init = {}, text, options } = rest;
  eg.manualSeed(kSeed);
  const layer = new eg.nn[name](...args);
  const state = layer.stateDict();
  assert.deepEqual(Object.keys(state), Object.keys(init));
  for (const [key, first] of Object.entries(init)) {
    assertClose([...state[key].dataSync()].slice(0, first.length), first, { what: key });
  }
  if (text !== undefined) assert.equal(String(layer), text);
  layer.to("float64").train(!rest.eval);
  layer.parameters().forEach((parameter, i) => {
    parameter.detach().copy_(wave(parameter.shape, i + 1, 0.5));
  });
  const given = inputs.map(inputOf);
  const results = [layer.call(...given, ...(options ? [options] : []))].flat(Infinity);
  assert.equal(results.length, outputs.length);
  outputs.forEach(({ shape, data }, i) => {
    assert.deepEqual(results[i].shape, shape);
    assertSame(results[i], data, `output ${i}`);
  });
  if (grads === undefined) return;
  const floats = results.filter((result) => result.dtype === "float64");
  const losses = floats.map((result) =>
    result.mul(numbersOf(result.shape, (i) => Math.cos(i * 0.3))).sum(),
  );
  losses.reduce((sum, loss) => sum.add(loss)).backward();
  grads.forEach((grad, i) => {
    if (grad !== null) assertSame(given[i].grad, grad, `gradient of input ${i}`);
  });
  for (const [key, parameter] of layer.namedParameters()) {
    if (parameterGrads[key] === undefined) assert.equal(parameter.grad, null, key);
    else assertSame(parameter.grad, parameterGrads[key], `gradient of ${key}`);
  }
}

describe("layers give PyTorch's numbers", () => {
  for (const one of kCases) {
    test(`${one.layer}(${JSON.stringify(one.args).slice(1, -1)}) of ${JSON.stringify(one.inputs)}`, () => {
      eg.scope(() => runCase(one));
    });
  }
});

describe("activations write into their input if inplace is set", () => {
  const kMade = {
    ReLU: [],
    ReLU6: [],
    SELU: [],
    SiLU: [],
    Mish: [],
    Hardswish: [],
    Hardsigmoid: [],
    LeakyReLU: [0.1],
    ELU: [0.5],
    CELU: [2],
    Hardtanh: [-0.5, 0.5],
    Threshold: [0.1, 3],
  };
  for (const [name, args] of Object.entries(kMade)) {
    test(name, () => {
      const values = [-2, -0.25, 0.3, 4];
      const expected = new eg.nn[name](...args).call(eg.tensor(values)).dataSync();
      const leaf = eg.tensor(values, { requiresGrad: true });
      const input = leaf.clone();
      const result = new eg.nn[name](...args, true).call(input);
      assertTensor(input, expected);
      assertTensor(result, expected);
      const plain = eg.tensor(values, { requiresGrad: true });
      new eg.nn[name](...args).call(plain).sum().backward();
      result.sum().backward();
      assertTensor(leaf.grad, plain.grad.dataSync());
    });
  }

  test("and dropout, too", () => {
    const input = eg.ones([50]);
    const result = new eg.nn.Dropout(0.5, { inplace: true }).call(input);
    assert.equal(result, input);
    assert.deepEqual([...new Set(input.dataSync())].sort(), [0, 2]);
  });
});
