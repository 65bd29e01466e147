// Laws that every composite obeys: they are called as ops are, and follow from their samples.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compositeTable } from "./support/composite_samples.mjs";
import { eg } from "./support/engine.mjs";
import { callOp, samplesOf } from "./support/op_samples.mjs";

const isTensor = (value) => value instanceof eg.Tensor;
const isDifferentiable = (tensor) => isTensor(tensor) && tensor.requiresGrad;

describe("derivatives to second order are those of differences:", () => {
  for (const op of compositeTable) {
    for (const { text, make } of samplesOf(op)) {
      test(`${op.js}(${text})`, () => {
        const args = make();
        const leaves = args.flat().filter(isDifferentiable);
        const results = (...given) =>
          callOp(op, substituted(args, leaves, given)).filter(isDifferentiable);
        if (leaves.length === 0 || results(...leaves).length === 0) return;
        assert.ok(eg.autograd.gradcheck(results, leaves));
        assert.ok(eg.autograd.gradgradcheck(results, leaves));
      });
    }
  }
});

/** The arguments with other tensors in place of the leaves. */
function substituted(value, leaves, given) {
  if (Array.isArray(value)) return value.map((one) => substituted(one, leaves, given));
  const place = leaves.indexOf(value);
  return place < 0 ? value : given[place];
}

test("a composite leaves nothing behind but its results", () => {
  for (const op of compositeTable) {
    for (const { text, make } of samplesOf(op)) {
      eg.scope(() => {
        const args = make();
        const before = eg.memory().jsHandles;
        const results = callOp(op, args).filter(isTensor);
        assert.equal(eg.memory().jsHandles - before, results.length, `${op.js}(${text})`);
      });
    }
  }
});
