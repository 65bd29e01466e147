// A model of a file in onnxruntime-web, on as many threads as it is told.

import { readFileSync } from "node:fs";
import * as ort from "onnxruntime-web";
import { fileOf, kFiles, numbersOf } from "./files.mjs";
import { measure } from "./task.mjs";

const [name, threads, count] = process.argv.slice(2);

await measure(async () => {
  ort.env.wasm.numThreads = Number(threads);
  const bytes = readFileSync(fileOf(name));
  const session = await ort.InferenceSession.create(bytes, { logSeverityLevel: 3 });
  const feeds = Object.fromEntries(
    kFiles[name].inputs.map((one, i) => [
      session.inputNames[i],
      new ort.Tensor(one.type, numbersOf(one), one.shape),
    ]),
  );
  return async () => (await session.run(feeds))[session.outputNames[0]].data;
}, Number(count));
