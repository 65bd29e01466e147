import { isPlainObject, readOptions } from "../arguments/read.js";
import { type Options, Rule } from "../arguments/rule.js";
import { readStored } from "../ops/read.js";
import { describe, EdgeGradError, fail } from "../runtime/errors.js";
import { itemSize } from "../tensor/dtype.js";
import { Tensor } from "../tensor/tensor.js";
import { kHeaderBytes, kMetadataKey } from "./safetensors_layout.js";
import { storedName } from "./stored_types.js";

const kDict = new Rule<Readonly<Record<string, Tensor>>>(
  "an object of tensors by name",
  isPlainObject,
);

/** The option for metadata. */
export const kMetadata = new Rule<Readonly<Record<string, string>>>(
  "an object of strings by name",
  (value) => isPlainObject(value) && Object.values(value).every((one) => typeof one === "string"),
).optional();

const kOptions = {
  /** Strings by name to store in the file together with the tensors. */
  metadata: kMetadata,
};

/** Options of `saveSafetensors`. */
export type SaveSafetensorsOptions = Options<typeof kOptions>;

/** Returns the bytes of a safetensors file with the tensors of `dict`, which the safetensors library for PyTorch can load. */
export function saveSafetensors(
  dict: Readonly<Record<string, Tensor>>,
  ...rest: [options?: SaveSafetensorsOptions]
): Uint8Array {
  const where = "saveSafetensors";
  const { metadata } = readOptions(where, kOptions, rest);
  return writeFile(where, Object.entries(kDict.check(where, "dict", dict)), metadata);
}

/** Returns the bytes of a file of tensors; `where` is the calling function, for errors. */
export function writeFile(
  where: string,
  tensors: readonly (readonly [name: string, tensor: Tensor])[],
  metadata: Readonly<Record<string, string>> | undefined,
): Uint8Array {
  const header: [string, unknown][] = [];
  if (metadata !== undefined) header.push([kMetadataKey, metadata]);
  const entries = tensors.map(([name, tensor]) => entryOf(where, name, tensor));
  // Uses the order of the reference implementation: widest elements first, so that all tensors are aligned.
  entries.sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
  let offset = 0;
  for (const { name, type, shape, data } of entries) {
    header.push([name, { dtype: type, shape, data_offsets: [offset, offset + data.byteLength] }]);
    offset += data.byteLength;
  }
  return assemble(
    // fromEntries() and not assignment, because a tensor may be called "__proto__".
    Object.fromEntries(header),
    entries.map((entry) => entry.data),
    offset,
  );
}

function assemble(header: object, parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(header));
  // The header is padded with spaces so that the data starts at a multiple of 8.
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

function entryOf(where: string, name: string, tensor: unknown) {
  if (!(tensor instanceof Tensor)) {
    fail("InvalidArgument", where, `"${name}": expected a tensor, got ${describe(tensor)}.`);
  }
  if (name === kMetadataKey) {
    fail("InvalidArgument", where, `"${name}" cannot be the name of a tensor.`);
  }
  const { dtype } = tensor;
  const type = storedName(dtype);
  if (type === undefined) {
    fail("DtypeMismatch", where, `"${name}": the format has no type for ${dtype}.`);
  }
  const elements = elementsOf(where, name, tensor);
  const data = new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
  return { name, type, shape: tensor.shape, data, bytes: itemSize(dtype) };
}

function elementsOf(where: string, name: string, tensor: Tensor) {
  try {
    return readStored(tensor);
  } catch (error) {
    if (!(error instanceof EdgeGradError) || error.code !== "WouldBlock") throw error;
    return fail(
      "WouldBlock",
      where,
      `"${name}" is on the GPU, which this thread drives and cannot wait for. Save copies on the CPU: ` +
        "`tensor(await t.data(), { shape: t.shape, dtype: t.dtype })`.",
    );
  }
}
