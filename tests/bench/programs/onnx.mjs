// Inference of ONNX models, ours and onnxruntime-web's in one process on one thread each. Prints the medians as JSON.

import * as eg from "edgegrad";
import * as ort from "onnxruntime-web";
import { measureModels } from "../models/onnx_pairs.mjs";

const [pairs, warmUps] = process.argv.slice(2).map(Number);

ort.env.wasm.numThreads = 1;
await eg.init({ threads: 1, webgpu: "off" });
eg.manualSeed(1);
console.log(JSON.stringify(await measureModels(ort, { pairs, warmUps })));
process.exit(0);
