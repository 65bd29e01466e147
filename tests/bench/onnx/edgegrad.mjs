// A model of a file in this package, on as many threads as it is told.

import { readFileSync } from "node:fs";
import * as eg from "edgegrad";
import { load } from "edgegrad/onnx";
import { fileOf, kFiles, numbersOf } from "./files.mjs";
import { measure } from "./task.mjs";

const [name, threads, count] = process.argv.slice(2);

await measure(async () => {
  await eg.init({ threads: Number(threads), webgpu: "off" });
  const module = await load(readFileSync(fileOf(name)), { trainable: false });
  const inputs = kFiles[name].inputs.map((one) =>
    eg.tensor(numbersOf(one), { shape: one.shape, dtype: one.type }),
  );
  return () =>
    eg.inferenceMode(() =>
      eg.scope(() => {
        const result = module.call(...inputs);
        const first = result instanceof eg.Tensor ? result : Object.values(result)[0];
        return first.dataSync();
      }),
    );
}, Number(count));
