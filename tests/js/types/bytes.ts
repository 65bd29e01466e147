// Bytes and typed arrays of the package where the platform takes no shared memory. tests/js/project/types.test.mjs only compiles this
// file, with the types of the DOM.

import * as eg from "edgegrad";
import { save } from "edgegrad/onnx";
import type { PeftModel } from "edgegrad/peft";
import type { CheckpointOptions, PreTrainedModel } from "edgegrad/transformers";
import { CsvWriter, JsonlWriter, SummaryWriter } from "edgegrad/vis";

declare const file: FileSystemWritableFileStream;
declare const model: PreTrainedModel;
declare const adapted: PeftModel;
const x = eg.ones([2, 2]);
const module = new eg.nn.Linear(2, 1);

// Files.
const whole = eg.io.save(x);
export const response = new Response(whole);
export const blob = new Blob([whole, eg.io.saveSafetensors({ x })]);
await file.write(eg.io.save({ x }));
await file.write(await eg.io.saveTorch(x));
await file.write(await save(module));
await fetch("/model", { method: "PUT", body: eg.io.saveSafetensors({ x }) });
await crypto.subtle.digest("SHA-256", eg.io.save(x));
const { "model.safetensors": weights = whole } = await model.savePretrained();
const { "adapter_model.safetensors": adapter = whole } = await adapted.savePretrained();
await file.write(new Blob([weights, adapter]));
export const checkpoint: CheckpointOptions = {
  async save(bytes, step) {
    await file.write(new Blob([bytes, String(step)]));
  },
};
for (const writer of [new CsvWriter(), new JsonlWriter(), new SummaryWriter()]) {
  await file.write(await writer.bytes());
}

// Streams take the bytes, whichever of the types a program has written.
await eg.io.saveSafetensors({ x }, file);
await eg.io.saveSafetensors({ x }, new WritableStream<Uint8Array>());
await eg.io.saveSafetensors(
  { x },
  new WritableStream<eg.Bytes>({ write: (bytes) => file.write(bytes) }),
);
export const written = [new CsvWriter(file), new SummaryWriter(new WritableStream<eg.Bytes>())];

// Elements.
const data: eg.DataArray = await x.data();
await file.write(data);
export const pixels = new Blob([x.dataSync()]);
export const buffer: ArrayBuffer = whole.buffer as ArrayBuffer;
export const wide: eg.TypedArray = data;
export const bytes: Uint8Array = whole;
export const floats = (await x.data()) as Float32Array;

// What goes in may be shared.
const shared = new Float32Array(new SharedArrayBuffer(8));
export const inputs = [eg.tensor(shared), eg.io.load(new Uint8Array(shared.buffer))];
