// Inference of ONNX models, ours and onnxruntime-web's in pairs: one call of each in turn, in one process. Prints the medians as JSON.

import * as eg from "edgegrad";
import { load, save } from "edgegrad/onnx";
import * as ort from "onnxruntime-web";
import { median } from "../clock.mjs";
import { kOnnxModels } from "../models/onnx.mjs";

const [pairs, warmUps] = process.argv.slice(2).map(Number);

ort.env.wasm.numThreads = 1;
await eg.init({ threads: 1, webgpu: "off" });
eg.manualSeed(1);

const results = {};
for (const [name, { make, input }] of Object.entries(kOnnxModels)) {
  const x = input();
  results[name] = await measured(await save(make().eval(), { inputs: [x] }), x);
}
console.log(JSON.stringify(results));
process.exit(0);

async function measured(bytes, x) {
  const module = await load(bytes);
  const session = await ort.InferenceSession.create(bytes, { logSeverityLevel: 3 });
  const feeds = { [session.inputNames[0]]: new ort.Tensor(x.dtype, x.dataSync(), x.shape) };
  const ours = [];
  const theirs = [];
  for (let i = 0; i < warmUps + pairs; i++) {
    const begin = performance.now();
    const found = eg.noGrad(() => eg.scope(() => module.call(x).dataSync()));
    const middle = performance.now();
    const expected = await session.run(feeds);
    const end = performance.now();
    if (i === 0) checkSame(found, expected[session.outputNames[0]].data);
    if (i < warmUps) continue;
    ours.push(middle - begin);
    theirs.push(end - middle);
  }
  await session.release();
  const ratio = median(theirs.map((time, i) => time / ours[i]));
  return { ours: median(ours), theirs: median(theirs), ratio };
}

function checkSame(found, expected) {
  const largest = expected.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
  const isSame = found.every((one, i) => Math.abs(one - expected[i]) <= 1e-4 * largest);
  if (!isSame || found.length !== expected.length) throw new Error("the results differ");
}
