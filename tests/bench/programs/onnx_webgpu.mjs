// Inference of ONNX models on WebGPU, ours and onnxruntime-web's in one page. Logs the medians as JSON. Each model's time includes that
// of sending its input, if it was not sent before, and of reading its result.

import * as eg from "edgegrad";
import * as ort from "onnxruntime-web/webgpu";
import { measureModels } from "../models/onnx_pairs.mjs";

const [pairs, warmUps] = new URLSearchParams(location.search).get("counts").split(",").map(Number);

await eg.init({ webgpu: "required" });
eg.manualSeed(1);
const session = { executionProviders: ["webgpu"] };
const device = "webgpu";
console.log(JSON.stringify(await measureModels(ort, { pairs, warmUps, device, session })));
