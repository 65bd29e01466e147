import { isPlainObject, readOptions } from "../arguments/read.js";
import { type Options, Rule } from "../arguments/rule.js";
import { describe, EdgeGradError, fail } from "../runtime/errors.js";
import { itemSize } from "../tensor/dtype.js";
import { Tensor } from "../tensor/tensor.js";
import { kHeaderBytes, kMetadataKey } from "./safetensors_layout.js";
import { storedName } from "./safetensors_types.js";

const kDict = new Rule<Readonly<Record<string, Tensor>>>(
  "an object of tensors by name",
  isPlainObject,
);

const kOptions = {
  /** Text to keep in the file beside the tensors. */
  metadata: new Rule<Readonly<Record<string, string>>>("an object of texts by name", (value) => {
    return isPlainObject(value) && Object.values(value).every((text) => typeof text === "string");
  }).optional(),
};

/** Options of `saveSafetensors`. */
export type SaveOptions = Options<typeof kOptions>;

/** Returns a safetensors file with the tensors of `dict`, which PyTorch's library can load. */
export function saveSafetensors(
  dict: Readonly<Record<string, Tensor>>,
  ...rest: [options?: SaveOptions]
): Uint8Array {
  const header: [string, unknown][] = [];
  const { metadata } = readOptions("saveSafetensors", kOptions, rest);
  if (metadata !== undefined) header.push([kMetadataKey, metadata]);
  const entries = Object.entries(kDict.check("saveSafetensors", "dict", dict)).map(
    ([name, tensor]) => entryOf(name, tensor),
  );
  // The order of the reference implementation: widest elements first, so that all are aligned.
  entries.sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
  let offset = 0;
  for (const { name, type, shape, data } of entries) {
    header.push([name, { dtype: type, shape, data_offsets: [offset, offset + data.byteLength] }]);
    offset += data.byteLength;
  }
  return assemble(
    // Not by assignment: a tensor may be called "__proto__".
    Object.fromEntries(header),
    entries.map((entry) => entry.data),
    offset,
  );
}

function assemble(header: object, parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(header));
  // Spaces bring the data to a multiple of 8.
  const headerSize = Math.ceil(text.length / 8) * 8;
  const file = new Uint8Array(kHeaderBytes + headerSize + bytes);
  new DataView(file.buffer).setBigUint64(0, BigInt(headerSize), true);
  file.fill(0x20, kHeaderBytes, kHeaderBytes + headerSize);
  file.set(text, kHeaderBytes);
  let at = kHeaderBytes + headerSize;
  for (const part of parts) {
    file.set(part, at);
    at += part.length;
  }
  return file;
}

function entryOf(name: string, tensor: unknown) {
  if (!(tensor instanceof Tensor)) {
    fail(
      "InvalidArgument",
      "saveSafetensors",
      `"${name}": expected a tensor, got ${describe(tensor)}.`,
    );
  }
  if (name === kMetadataKey) {
    fail("InvalidArgument", "saveSafetensors", `"${name}" cannot be the name of a tensor.`);
  }
  const { dtype } = tensor;
  const type = storedName(dtype);
  if (type === undefined) {
    fail("DtypeMismatch", "saveSafetensors", `"${name}": the format has no type for ${dtype}.`);
  }
  const elements = elementsOf(name, tensor);
  const data = new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
  return { name, type, shape: tensor.shape, data, bytes: itemSize(dtype) };
}

function elementsOf(name: string, tensor: Tensor) {
  try {
    return tensor.dataSync();
  } catch (error) {
    if (!(error instanceof EdgeGradError) || error.code !== "WouldBlock") throw error;
    return fail(
      "WouldBlock",
      "saveSafetensors",
      `"${name}" is on the GPU, which this thread plays and cannot wait for. Save copies that are on the CPU: ` +
        "`tensor(await t.data(), { shape: t.shape, dtype: t.dtype })`.",
    );
  }
}
