import { isPlainObject, readOptions } from "../arguments/read.js";
import { type Options, Rule } from "../arguments/rule.js";
import { readStored } from "../ops/read.js";
import { EdgeGradError, fail } from "../runtime/errors/errors.js";
import { allocated, bytesIn } from "../tensor/dtype.js";
import type { Bytes } from "../tensor/own_memory.js";
import { attempt } from "../tensor/reachable.js";
import type { Tensor } from "../tensor/tensor.js";
import type { StreamLike } from "./platform_types.js";
import { layOut, type NamedTensor } from "./safetensors_layout.js";
import { writeToStream } from "./safetensors_stream.js";

const kDict = new Rule<Readonly<Record<string, Tensor>>>(
  "an object of tensors by name",
  isPlainObject,
);

/** The option for metadata. */
export const kMetadata = new Rule<Readonly<Record<string, string>>>(
  "an object of strings by name",
  (value) => isPlainObject(value) && Object.values(value).every((text) => typeof text === "string"),
).optional();

const kOptions = {
  /** Strings by name to store in the file together with the tensors. */
  metadata: kMetadata,
};

/** Options of `saveSafetensors`. */
export type SaveSafetensorsOptions = Options<typeof kOptions>;

/**
 * Writes a safetensors file to a stream, a WritableStream of bytes, and closes it, with no more than one tensor in memory twice. Resolves when
 * everything is written; until then the tensors must not change. If anything fails, it aborts the stream and rejects.
 */
export function saveSafetensors(
  dict: Readonly<Record<string, Tensor>>,
  stream: StreamLike,
  options?: SaveSafetensorsOptions,
): Promise<void>;
// The last form is the one that TypeScript compares a wrong call with.
/** Returns the bytes of a safetensors file with the tensors of `dict`, which the safetensors library for PyTorch can load. */
export function saveSafetensors(
  dict: Readonly<Record<string, Tensor>>,
  options?: SaveSafetensorsOptions,
): Bytes;
export function saveSafetensors(dict: unknown, ...rest: unknown[]): Bytes | Promise<void> {
  const where = "saveSafetensors";
  const [stream, ...others] = rest;
  if (isStream(stream)) {
    return writeToStream(where, stream, () => {
      const { metadata } = readOptions(where, kOptions, others);
      return layOut(where, Object.entries(kDict.check(where, "dict", dict)), metadata);
    });
  }
  const { metadata } = readOptions(where, kOptions, rest);
  return writeFile(where, Object.entries(kDict.check(where, "dict", dict)), metadata);
}

function isStream(value: unknown): value is StreamLike {
  if (typeof value !== "object" || value === null) return false;
  return attempt(() => typeof (value as Partial<StreamLike>).getWriter === "function") === true;
}

/** Returns the bytes of a file of tensors; `where` is the calling function, for errors. */
export function writeFile(
  where: string,
  given: readonly NamedTensor[],
  metadata: Readonly<Record<string, string>> | undefined,
): Bytes {
  const { header, tensors, bytes } = layOut(where, given, metadata);
  const file = allocated(where, bytes, () => new Uint8Array(bytes));
  file.set(header);
  let at = header.length;
  for (const { name, tensor } of tensors) {
    const data = bytesIn(elementsOf(where, name, tensor));
    file.set(data, at);
    at += data.length;
  }
  return file;
}

function elementsOf(where: string, name: string, tensor: Tensor) {
  try {
    return readStored(tensor, where);
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
