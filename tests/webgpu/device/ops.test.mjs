// Every op of the op table on the device: results and gradients are those of the CPU.

// Before anything that starts the engine without the device.
import "../support/engine.mjs";

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose } from "../../js/support/assert.mjs";
import { callOp, opTable, samplesOf } from "../../js/support/op_samples.mjs";
import { eg, options } from "../support/engine.mjs";

const isTensor = (value) => value instanceof eg.Tensor;

// The tensors among arguments, which may be in lists, each on the device.
function moved(value, device) {
  if (Array.isArray(value)) return value.map((part) => moved(part, device));
  if (!isTensor(value)) return value;
  return value.detach().to(device).requiresGrad_(value.requiresGrad);
}

/** Results and gradients of a call, as arrays; or its error. */
function outcome(op, sample, dtype, device) {
  const given = sample.make(dtype);
  if (given === null) return null;
  const args = moved(given, device);
  try {
    const results = callOp(op, args).filter(isTensor);
    const tensors = args.flat(2).filter(isTensor);
    const where = tensors.length === 0 ? "cpu" : device;
    for (const result of results) assert.equal(result.device, where, "where the result is");
    const tracked = results.filter((result) => result.requiresGrad);
    const leaves = tensors.filter((tensor) => tensor.requiresGrad);
    const grads = tracked.length === 0 ? [] : gradientsOf(tracked, leaves);
    return { arrays: [...results, ...grads].map(arrayOf) };
  } catch (error) {
    if (!(error instanceof eg.EdgeGradError)) throw error;
    return { code: error.code };
  }
}

// Weights of all sizes, so that no part of a gradient cancels.
function gradientsOf(results, leaves) {
  const gradOutputs = results.map((result) =>
    eg
      .linspace(0.5, 1.5, result.numel)
      .reshape(result.shape)
      .to({ dtype: result.dtype, device: result.device }),
  );
  return eg.autograd
    .grad(results, leaves, { gradOutputs, allowUnused: true })
    .filter((grad) => grad !== null);
}

function arrayOf(tensor) {
  const { shape, dtype } = tensor;
  return { shape, dtype, values: [...tensor.detach().dataSync()] };
}

const shapesOf = ({ arrays, code }) =>
  arrays?.map(({ shape, dtype }) => ({ shape, dtype })) ?? code;

function assertAlike(found, right, title) {
  assert.deepEqual(shapesOf(found), shapesOf(right), title);
  for (const [i, { dtype, values }] of (right.arrays ?? []).entries()) {
    const isExact = !/float|complex/.test(dtype);
    // Words of a few units in the last place, in formulas and in sums of some ten terms in another order.
    const tolerance = isExact ? { rtol: 0, atol: 0 } : { rtol: 1e-4, atol: 2e-5 };
    assertClose(found.arrays[i].values, values, { ...tolerance, what: `${title}, array ${i}` });
  }
}

describe("an op on the device is as on the CPU:", options, () => {
  for (const op of opTable) {
    const samples = samplesOf(op);
    if (samples.length === 0 || typeof eg[op.js] !== "function") continue;
    test(op.name, () => {
      for (const sample of samples) {
        for (const dtype of ["float32", "int32", "complex64"]) {
          eg.scope(() => {
            const right = outcome(op, sample, dtype, "cpu");
            if (right === null) return;
            const found = outcome(op, sample, dtype, "webgpu");
            assertAlike(found, right, `${op.name}(${sample.text}) of ${dtype}`);
          });
        }
      }
    });
  }
});
