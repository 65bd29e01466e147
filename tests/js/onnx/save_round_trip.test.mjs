// What save() writes, load() reads: every sample of every op gives the same values and gradients again.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { load, save } from "edgegrad/onnx";
import { compositeTable } from "../support/composite_samples.mjs";
import { eg } from "../support/engine.mjs";
import { tensorsIn } from "../support/onnx_runtime.mjs";
import { kHidden, programOf } from "../support/onnx_samples.mjs";
import { opTable, samplesOf } from "../support/op_samples.mjs";

// Ops that draw numbers or need sorted operands, which the samples are not.
const kOthers = /^(?:rand|randn|randLike|randnLike|bernoulli|dropout|searchsorted|bucketize)$/;
// In a model, running statistics are no inputs of which there are gradients.
const kWithoutGradients = /^(?:batchNorm|instanceNorm)$/;

const ops = [...opTable, ...compositeTable].filter(
  ({ js }) => !kHidden.test(js) && !kOthers.test(js),
);

/** Returns the results of a call and the gradients of its inputs. */
function outcomeOf(call, inputs) {
  const given = inputs.map((one) => (one.isFloatingPoint() ? one.clone().requiresGrad_() : one));
  const results = tensorsIn(call(...given));
  const recorded = results.filter((one) => one.requiresGrad);
  if (recorded.length > 0)
    recorded
      .map((one) => one.sum())
      .reduce((a, b) => a.add(b))
      .backward();
  return {
    results: results.map((one) => one.detach()),
    gradients: given.map((one) => one.grad),
  };
}

describe("every op is read as it was written:", () => {
  for (const opset of [17, 20]) {
    test(`opset ${opset}`, async () => {
      let count = 0;
      for (const op of ops) {
        for (const sample of samplesOf(op)) {
          const made = programOf(op, sample);
          if (made !== null && (await isSame(op, sample, made, opset))) count++;
        }
      }
      assert.ok(count > 750, `${count}`);
    });
  }
});

async function isSame({ js }, { text }, { program, inputs }, opset) {
  const bytes = await save(program, { inputs, opset }).catch((error) => {
    assert.match(error.message, /ONNX has no form of/, `${js}(${text})`);
    return null;
  });
  if (bytes === null) return false;
  const model = await load(bytes);
  const found = outcomeOf((...given) => model.call(...given), inputs);
  const expected = outcomeOf(program, inputs);
  for (const kind of ["results", "gradients"]) {
    if (kind === "gradients" && kWithoutGradients.test(js)) continue;
    for (const [i, one] of expected[kind].entries()) {
      // A file does not say what has no gradient, as detach() does.
      if (one === null) continue;
      const message = `${kind} of ${js}(${text})`;
      eg.testing.assertClose(found[kind][i] ?? eg.zerosLike(one), one, {
        rtol: 1e-3,
        atol: 1e-4,
        equalNan: true,
        msg: message,
      });
    }
  }
  return true;
}
