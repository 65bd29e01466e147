// Inference of ONNX models in pairs: one call of ours and one of onnxruntime-web's in turn, so that disturbances meet both.

import * as eg from "edgegrad";
import { load, save } from "edgegrad/onnx";
import { median } from "../clock.mjs";
import { kOnnxModels } from "./onnx.mjs";

/**
 * Measures every model, which `ort` loads with the options of a session, and ours on a device. Resolves to the medians in ms
 * by the names of the models: { ours, theirs, ratio }.
 */
export async function measureModels(ort, { pairs, warmUps, device = "cpu", session = {} }) {
  const results = {};
  for (const [name, { make, input }] of Object.entries(kOnnxModels)) {
    const x = input();
    const bytes = await save(make().eval(), { inputs: [x] });
    const ours = (await load(bytes)).to(device);
    const theirs = await ort.InferenceSession.create(bytes, { logSeverityLevel: 3, ...session });
    results[name] = await measured(ours, theirs, ort, x, { pairs, warmUps, device });
    await theirs.release();
  }
  return results;
}

async function measured(module, session, ort, x, { pairs, warmUps, device }) {
  const feeds = { [session.inputNames[0]]: new ort.Tensor(x.dtype, x.dataSync(), x.shape) };
  const input = x.to(device);
  const call = () => eg.noGrad(() => eg.scope(() => eg.keep(module.call(input))));
  const ours = [];
  const theirs = [];
  for (let i = 0; i < warmUps + pairs; i++) {
    const begin = performance.now();
    const y = call();
    const found = device === "cpu" ? y.dataSync() : await y.data();
    const middle = performance.now();
    const expected = await session.run(feeds);
    const end = performance.now();
    y.dispose();
    if (i === 0) checkSame(found, expected[session.outputNames[0]].data);
    if (i < warmUps) continue;
    ours.push(middle - begin);
    theirs.push(end - middle);
  }
  const ratio = median(theirs.map((time, i) => time / ours[i]));
  return { ours: median(ours), theirs: median(theirs), ratio };
}

function checkSame(found, expected) {
  const largest = expected.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
  const isSame = found.every((one, i) => Math.abs(one - expected[i]) <= 1e-4 * largest);
  if (!isSame || found.length !== expected.length) throw new Error("the results differ");
}
