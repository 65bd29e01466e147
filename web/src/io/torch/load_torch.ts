// Reading what torch.save writes.

import { readOptions } from "../../arguments/read.js";
import { boolean, type Options, Rule } from "../../arguments/rule.js";
import { readingLater } from "../broken_file.js";
import { bytesOf } from "../bytes.js";
import { kStartBytes, refuseOthers } from "../file_kinds.js";
import type { BlobLike } from "../platform_types.js";
import { BlobSource, isBlob } from "../sources/blob.js";
import { MemorySource } from "../sources/memory.js";
import { readBytes, type Source } from "../sources/source.js";
import { archivedFile } from "./archive.js";
import { legacyFile } from "./legacy_file.js";
import { Converter } from "./python_values.js";
import { Storages } from "./storages.js";
import type { TorchFile } from "./torch_file.js";
import { looksLikeZip } from "./zip_reader.js";

const kOptions = {
  /** Only true: nothing but data is ever read, whatever the file names. */
  weightsOnly: new Rule<true>(
    "true, because code in the file is never run",
    (value) => value === true,
  ).or(true),
  /** Has no effect: a Blob is read one storage at a time, without holding the file. */
  mmap: boolean.or(false),
};

/** Options of `loadTorch`. */
export type LoadTorchOptions = Options<typeof kOptions>;

/**
 * Returns the value that torch.save has written, in its present or its older form. Dicts become plain objects, or Maps if their keys
 * are neither all strings nor all whole numbers; lists, tuples and torch.Size arrays; sets Sets; bytes Uint8Arrays; None null; numbers
 * beyond 53 bits bigints; dtypes and devices their names. Parameters become tensors with `requiresGrad`. Tensors are on the CPU, and those
 * of one storage share memory. Sparse tensors may have the layouts COO and CSR. Element types that do not exist here are converted as by `loadSafetensors`. Only data is read: rejects with
 * InvalidArgument for a file that contains anything else, and for one that is damaged.
 */
// biome-ignore lint/suspicious/noExplicitAny: what is in a file, only its reader knows.
export async function loadTorch<T = any>(
  source: Uint8Array | ArrayBuffer | BlobLike,
  ...rest: [options?: LoadTorchOptions]
): Promise<T> {
  const where = "loadTorch";
  readOptions(where, kOptions, rest);
  const file = isBlob(source)
    ? new BlobSource(where, source)
    : new MemorySource(bytesOf(where, source, "a Uint8Array, an ArrayBuffer or a Blob"));
  return readingLater(where, async () => {
    const { value, plans, storage } = await open(where, file);
    const storages = new Storages(where, plans);
    try {
      await storages.read(storage);
      return new Converter((plan) => storages.tensor(plan)).convert(value) as T;
    } catch (error) {
      storages.disposeTensors();
      throw error;
    } finally {
      storages.dispose();
    }
  });
}

async function open(where: string, source: Source): Promise<TorchFile> {
  const start = await readBytes(source, 0, Math.min(kStartBytes, source.size));
  refuseOthers(where, start, ["torch", "zip"]);
  if (looksLikeZip(start)) return archivedFile(source);
  // The older form has no directory.
  return legacyFile(await readBytes(source, 0, source.size));
}
