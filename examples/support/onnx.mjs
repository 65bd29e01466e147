// The option --onnx FOLDER of the examples: writes their models as ONNX files, which it tries in onnxruntime.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { nn, noGrad, tensor } from "edgegrad";
import { save } from "edgegrad/onnx";

/** With --onnx FOLDER, writes a model there, for batches of any size, and compares its results with those of onnxruntime. */
export async function exportIfWanted(name, model, inputs, dynamicAxes = { input: { 0: "batch" } }) {
  const options = { onnx: { type: "string" } };
  const { onnx: folder } = parseArgs({ options, strict: false }).values;
  if (folder === undefined) return;
  const bytes = await save(model, { inputs, dynamicAxes });
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.onnx`);
  writeFileSync(file, bytes);
  const isModule = model instanceof nn.Module;
  if (isModule) model.eval();
  const expected = noGrad(() => (isModule ? model.call(...inputs) : model(...inputs)));
  const found = await runInOnnxRuntime(bytes, inputs);
  const difference = found.sub(expected).abs().max().div(expected.abs().max()).item();
  console.log(
    `${file}: ${bytes.length} bytes; onnxruntime differs by ${difference.toExponential(1)}`,
  );
  if (!(difference < 1e-4)) process.exitCode = 1;
}

/** Runs an ONNX model with one result. */
export async function runInOnnxRuntime(bytes, inputs) {
  const { env, InferenceSession, Tensor: OrtTensor } = await import("onnxruntime-web");
  env.wasm.numThreads = 1;
  const session = await InferenceSession.create(bytes, { logSeverityLevel: 3 });
  const feeds = inputs.map((input, i) => [
    session.inputNames[i],
    new OrtTensor(input.dtype, input.dataSync(), input.shape),
  ]);
  const results = await session.run(Object.fromEntries(feeds));
  const { data, dims } = results[session.outputNames[0]];
  await session.release();
  return tensor(data, { shape: [...dims] });
}
