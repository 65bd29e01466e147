// Saved models in onnxruntime, whose results are those of the program.

import assert from "node:assert/strict";
import { save } from "edgegrad/onnx";
import * as ort from "onnxruntime-web";
import { eg } from "./engine.mjs";

ort.env.wasm.numThreads = 1;

const kTolerance = { rtol: 1e-4, atol: 2e-5, equalNan: true };

/** Returns the tensors in the result of a program, in order. */
export function tensorsIn(value) {
  if (value instanceof eg.Tensor) return [value];
  if (value === null || typeof value !== "object") return [];
  return Object.values(value).flatMap(tensorsIn);
}

/** Runs a model in onnxruntime; returns its results by name. */
export async function runModel(bytes, inputs) {
  const session = await ort.InferenceSession.create(bytes, { logSeverityLevel: 3 });
  try {
    const feeds = inputs.map((x, i) => [
      session.inputNames[i],
      new ort.Tensor(x.dtype, x.dataSync(), x.shape),
    ]);
    const results = await session.run(Object.fromEntries(feeds));
    return Object.fromEntries(
      session.outputNames.map((name) => {
        const { data, dims, type } = results[name];
        return [name, eg.tensor(data, { shape: [...dims], dtype: type })];
      }),
    );
  } finally {
    await session.release();
  }
}

/** Saves a module or a function, and compares what it and the model return for its inputs and for `others`. Returns the bytes. */
export async function assertSaves(target, inputs, options = {}, ...others) {
  const bytes = await save(target, { inputs, ...options });
  for (const given of [inputs, ...others]) await assertSame(target, bytes, given);
  return bytes;
}

async function assertSame(target, bytes, inputs) {
  const results = await runModel(bytes, inputs);
  const call = () => (typeof target === "function" ? target(...inputs) : target.call(...inputs));
  const expected = tensorsIn(eg.noGrad(call));
  const found = Object.values(results);
  assert.equal(found.length, expected.length, "the number of results");
  for (const [i, tensor] of found.entries()) {
    eg.testing.assertClose(tensor, expected[i].detach(), kTolerance);
  }
}
