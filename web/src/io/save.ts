import { readOptions } from "../arguments/read.js";
import type { Options } from "../arguments/rule.js";
import { filledBy } from "../ops/create.js";
import { fail } from "../runtime/errors/errors.js";
import { bytesIn } from "../tensor/dtype.js";
import type { Bytes } from "../tensor/own_memory.js";
import type { Tensor } from "../tensor/tensor.js";
import { kMetadataKey } from "./safetensors_layout.js";
import { kMetadata, writeFile } from "./save_safetensors.js";
import { encode, kStructureKey, type NumberArray, type Writer } from "./structure.js";

const kOptions = {
  /** Strings by name to store in the file together with the value. */
  metadata: kMetadata,
};

/** Options of `save`. */
export type SaveOptions = Options<typeof kOptions>;

/**
 * Returns the bytes of a file that contains a value: a tensor, number, string, boolean, bigint, null or typed array, or
 * plain objects and arrays of these, such as state dicts. It is a safetensors file whose tensors are named by their paths,
 * "model.0.weight"; a tensor that occurs several times is stored once. load() restores the value.
 */
export function save(value: unknown, ...rest: [options?: SaveOptions]): Bytes {
  const { metadata } = readOptions("save", kOptions, rest);
  if (metadata !== undefined && kStructureKey in metadata) {
    fail("InvalidArgument", "save", `metadata: the name "${kStructureKey}" is reserved.`);
  }
  const parts = new Parts();
  try {
    const structure = JSON.stringify({ version: 1, value: encode(value, parts) });
    return writeFile("save", parts.tensors, { ...metadata, [kStructureKey]: structure });
  } finally {
    parts.dispose();
  }
}

// The tensors of a file. Arrays are stored as their bytes.
class Parts implements Writer {
  readonly tensors: [name: string, tensor: Tensor][] = [];
  readonly #names = new Map<Tensor | NumberArray, string>();
  readonly #used = new Set([kMetadataKey]);
  readonly #ownBytes: Tensor[] = [];

  tensor(path: string, tensor: Tensor): string {
    return this.#names.get(tensor) ?? this.#add(path, tensor, tensor);
  }

  array(path: string, array: NumberArray): string {
    const known = this.#names.get(array);
    if (known !== undefined) return known;
    const bytes = bytesIn(array);
    const tensor = filledBy("save", "uint8", [bytes.length], (elements) => {
      (elements as Uint8Array).set(bytes);
    });
    this.#ownBytes.push(tensor);
    return this.#add(path, array, tensor);
  }

  dispose(): void {
    for (const tensor of this.#ownBytes) tensor.dispose();
  }

  // Different tensors may have the same path: { "a.b": t } and { a: { b: t } }.
  #add(path: string, key: Tensor | NumberArray, tensor: Tensor): string {
    const wanted = path === "" ? "value" : path;
    let name = wanted;
    for (let i = 2; this.#used.has(name); i++) name = `${wanted}#${i}`;
    this.#used.add(name);
    this.#names.set(key, name);
    this.tensors.push([name, tensor]);
    return name;
  }
}
