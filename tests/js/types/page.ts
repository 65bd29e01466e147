// A page's program that reads and writes models, compiled with the types of the DOM by tests/js/project/types.test.mjs.

import * as eg from "edgegrad";
import { inspect, load, type OnnxModule, save } from "edgegrad/onnx";
import {
  createLog,
  defineElements,
  type RunLog,
  SummaryWriter,
  summary,
  watch,
} from "edgegrad/vis";

const input = document.querySelector("input") as HTMLInputElement;
const file = input.files?.[0] as File;
const address = new URL("model.onnx", document.baseURI);

const sources: (Uint8Array | ArrayBuffer | Blob | Response | URL)[] = [
  new Uint8Array(),
  new ArrayBuffer(0),
  file,
  file.slice(0, 10),
  await fetch(address),
  address,
];
for (const source of sources) {
  const options = { externalData: { weights: file }, outputs: ["y"], trainable: true };
  const opened: OnnxModule = await load(source, options);
  const shape: readonly (number | string | null)[] | undefined = opened.inputs[0]?.shape;
  const about: [number, string, Readonly<Record<string, string>>] = [
    opened.opset,
    opened.producer,
    opened.metadata,
  ];
  console.log(shape, about, (await inspect(source)).nodes[0]?.op);
}
await load(file, { externalData: async (location) => fetch(new URL(location, address)) });

const model: eg.nn.Module = await load(file);
const options = { inputs: [eg.ones([1])], inputNames: ["x"], outputNames: ["y"], opset: 20 };
const bytes: Uint8Array = await save(model, { ...options, dynamicAxes: { x: { 0: "batch" } } });
await save(model);
await save((x: eg.Tensor, y: eg.Tensor) => ({ sum: x.add(y), both: [x, y] }), options);

// What is in a file of torch.save, only its reader knows.
model.loadStateDict(await eg.io.loadTorch(file, { weightsOnly: true, mmap: true }));
const { epoch }: { epoch: number } = await eg.io.loadTorch(bytes);
const saved: Uint8Array = await eg.io.saveTorch({ model: model.stateDict(), epoch });

const weights = await eg.io.openSafetensors(file);
const keys: readonly string[] = weights.keys;
const half: eg.Tensor = await weights.tensor("w", { device: "webgpu", dtype: "float16" });
const part: eg.Tensor = await weights.slice("w", [0, 2], null, eg.slice(1, 3), 0);
await weights.close();
await eg.io.openSafetensors(address);
await eg.io.openSafetensors("model.safetensors");
await eg.io.openSafetensors({ "model.safetensors.index.json": file });
await eg.io.saveSafetensors({ half, part }, new WritableStream());
console.log(keys, saved);

const log: RunLog = createLog({ scalar: 1000 });
const run = log.run("first");
run.addScalar("loss", half.sum(), 1);
run.addHistogram("numbers", [1, 2, 3]);
run.addMatrix("matrix", [[1, 2], new Float32Array(2)], 1, { rows: ["a", "b"] });
const losses: number[] = run.records("scalar", "loss").map(({ value }) => value);
const counts: Float64Array | undefined = run.latest("histogram", "numbers")?.value.counts;
const updated: number = watch(model, run, { activations: [eg.nn.GELU] }).update(1, () => 5);
const events = new SummaryWriter(new WritableStream<Uint8Array>());
events.addGraph(model, half);
await defineElements();
Object.assign(document.createElement("eg-line-chart"), { log });
console.log(losses, counts, updated, summary(model, [[1, 3]], { dtype: "int64" }).rows[0]?.path);

const { signal } = new AbortController();
await eg.init({ signal });
