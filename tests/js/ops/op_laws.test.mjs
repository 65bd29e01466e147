// Laws that every op of the table obeys.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { wrongSpread } from "../support/op_dependence.mjs";
import { callOp, comparable, makeRandom, opTable, samplesOf } from "../support/op_samples.mjs";

const kStep = 1e-6;
const kTolerance = { rtol: 1e-4, atol: 1e-6 };

// Ops that stop gradients on purpose.
const kStopsGradients = new Set(["detach", "quantize"]);

const isPublic = (op) => op.kind !== "internal";
const startsWithTensor = (op) => samplesOf(op)[0].text.startsWith("T");
const isFloat = (tensor) => tensor.dtype === "float64" || tensor.dtype === "float32";

/** Returns a complex tensor as a real tensor of its parts, with respect to which derivatives are defined. */
function partsOf(tensor) {
  return tensor.dtype.startsWith("complex") ? eg.viewAsReal(tensor) : tensor;
}

const call = (op, args) => comparable(op, callOp(op, args)).map(partsOf);

/** Returns sum(weight * output) over the float outputs that `pick` selects, and those outputs. */
function weightedSum(outputs, weights) {
  return outputs.map((output, i) => output.mul(weights[i]).sum()).reduce((a, b) => a.add(b));
}

describe("op table", () => {
  for (const op of opTable.filter(isPublic)) {
    test(`${op.js} is a function, and a method when its first argument is a tensor`, () => {
      assert.equal(typeof eg[op.js], "function");
      const isMethod = op.kind !== "factory" && ["tensor", "operand"].includes(op.args[0]?.type);
      assert.equal(typeof eg.Tensor.prototype[op.js] === "function", isMethod);
      if (op.inplace) assert.equal(typeof eg[`${op.js}_`], "function");
    });
  }
});

describe("gradients match finite differences", () => {
  for (const op of opTable.filter((one) => isPublic(one) && !one.hasGradientOfItsOwn)) {
    for (const { text, make } of samplesOf(op)) {
      test(`${op.js}(${text})`, (t) => {
        const isChecked = eg.scope(() => checkGradients(op, make()));
        if (!isChecked) t.skip("no floating-point result of an operand that requires a gradient");
      });
    }
  }
});

describe("the in-place form gives what the op gives", () => {
  for (const op of opTable.filter((one) => one.inplace && startsWithTensor(one))) {
    test(`${op.js}_`, () => eg.scope(() => checkInPlace(op)));
  }
});

describe("a NaN or an infinity reaches the results that depend on it, and no others", () => {
  for (const op of opTable.filter(isPublic)) {
    test(op.js, () => {
      for (const { make } of samplesOf(op)) {
        for (const dtype of ["float64", "float32"]) {
          assert.deepEqual(wrongSpread(op, make, dtype), [], dtype);
        }
      }
    });
  }
});

/** Returns false if there is nothing to differentiate. */
function checkGradients(op, args) {
  const tensors = args.flat().filter((arg) => arg instanceof eg.Tensor);
  const leaves = tensors.filter((tensor) => tensor.requiresGrad);
  const outputs = call(op, args);
  const floats = outputs.flatMap((output, i) => (isFloat(output) ? [i] : []));
  if (leaves.length === 0 || floats.length === 0) return false;
  const random = makeRandom(op.name);
  const weights = outputs.map((output) => randomLike(output, random));
  const value = (list, of) =>
    weightedSum(
      of.map((i) => list[i]),
      of.map((i) => weights[i]),
    );

  const recorded = floats.filter((i) => outputs[i].requiresGrad);
  const zeros = leaves.map((leaf) => new Float64Array(partsOf(leaf).numel));
  const grads =
    recorded.length === 0
      ? zeros
      : eg.autograd
          .grad(value(outputs, recorded), leaves, { materializeGrads: true })
          .map((grad) => grad.dataSync());
  const compared = kStopsGradients.has(op.js) ? recorded : floats;
  if (compared.length === 0) return false;
  leaves.forEach((leaf, k) => {
    const expected = differences(leaf, () => value(call(op, args), compared).item());
    assertClose(grads[k], expected, { ...kTolerance, what: `gradient of input ${k}` });
  });
  return true;
}

// Returns the central differences of `f` with respect to every element of a leaf.
function differences(leaf, f) {
  const alias = partsOf(leaf.detach()).reshape([-1]);
  return Array.from({ length: alias.numel }, (_, i) => {
    const at = (value) => {
      alias.set_([i], value);
      return eg.noGrad(() => eg.scope(f));
    };
    const middle = alias.at(i).item();
    const slope = (at(middle + kStep) - at(middle - kStep)) / (2 * kStep);
    alias.set_([i], middle);
    return slope;
  });
}

function randomLike(tensor, random) {
  const values = Float64Array.from({ length: tensor.numel }, () => 0.5 + random());
  return eg.tensor(values, { shape: tensor.shape });
}

function checkInPlace(op) {
  const [{ make }] = samplesOf(op);
  const args = eg
    .noGrad(() => make())
    .map((arg) => (arg instanceof eg.Tensor ? arg.detach() : arg));
  const expected = eg[op.js](...args);
  const target = args[0].clone();
  const { version } = target;
  const result = eg[`${op.js}_`](target, ...args.slice(1));
  assert.equal(result, target);
  assert.ok(target.version > version);
  assertClose(target.dataSync(), expected.dataSync());
}
