import { readOptions } from "../arguments/read.js";
import type { Options } from "../arguments/rule.js";
import { fail } from "../runtime/errors/errors.js";
import { kFactoryOptions, withFactoryOptions } from "../tensor/factory_options.js";
import type { Tensor } from "../tensor/tensor.js";
import { reading, reject } from "./broken_file.js";
import { findDuplicateKey } from "./json_keys.js";
import { type Entry, parseFile, type SafetensorsFile } from "./safetensors_header.js";
import { tensorOf } from "./stored_elements.js";
import { decode, kArrays, kStructureKey, type NumberArray, type Reader } from "./structure.js";

const kOptions = {
  /** The device of the tensors; default "cpu". */
  device: kFactoryOptions.device,
};

/** Options of `load`. */
export type LoadOptions = Options<typeof kOptions>;

/**
 * Returns the value stored in a file by save(). `T` is the type that the program expects of it; it is not checked. Loading runs no code from
 * the file, and all tensors are new.
 */
// biome-ignore lint/suspicious/noExplicitAny: as of JSON.parse(), only the program knows what is in its files.
export function load<T = any>(
  bytes: Uint8Array | ArrayBuffer,
  ...rest: [options?: LoadOptions]
): T {
  const { device } = readOptions("load", kOptions, rest);
  const file = parseFile("load", bytes);
  const structure = file.metadata[kStructureKey];
  if (structure === undefined) {
    const message =
      "the file was not written by save(). Use loadSafetensors() to read its tensors.";
    fail("InvalidArgument", "load", message);
  }
  const parts = new Parts(file, device);
  try {
    return reading("load", () => {
      const value = decode(parseStructure(structure), parts);
      parts.checkAllUsed();
      return value as T;
    });
  } catch (error) {
    parts.dispose();
    throw error;
  }
}

function parseStructure(text: string): unknown {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    reject(`its structure is not JSON: ${(error as Error).message}.`);
  }
  const duplicate = findDuplicateKey(text);
  if (duplicate !== null) reject(`its structure has ${JSON.stringify(duplicate)} twice.`);
  const { version, value } = (json ?? {}) as { version?: unknown; value?: unknown };
  if (version !== 1) reject(`its structure has version ${JSON.stringify(version)}, expected 1.`);
  return value;
}

// The tensors and arrays of a file, each created only once.
class Parts implements Reader {
  readonly #file: SafetensorsFile;
  readonly #device: LoadOptions["device"];
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #tensors = new Map<string, Tensor>();
  readonly #arrays = new Map<string, NumberArray>();

  constructor(file: SafetensorsFile, device: LoadOptions["device"]) {
    this.#file = file;
    this.#device = device;
    this.#entries = new Map(file.entries.map((entry) => [entry.name, entry]));
  }

  tensor(name: string, requiresGrad: boolean): Tensor {
    const known = this.#tensors.get(name);
    if (known !== undefined) return known;
    const entry = this.#entryOf(name);
    const fresh = tensorOf("load", entry, this.#file.data.subarray(entry.start, entry.end));
    const tensor = withFactoryOptions(fresh, { device: this.#device, requiresGrad });
    this.#tensors.set(name, tensor);
    return tensor;
  }

  array(name: string, type: string): NumberArray {
    const known = this.#arrays.get(name);
    if (known !== undefined) return known;
    const { start, end } = this.#entryOf(name);
    const bytes = this.#file.data.slice(start, end);
    const array = arrayOf(type, bytes);
    this.#arrays.set(name, array);
    return array;
  }

  checkAllUsed(): void {
    for (const name of this.#entries.keys()) {
      if (!this.#tensors.has(name) && !this.#arrays.has(name)) {
        reject(`tensor ${JSON.stringify(name)} does not occur in its structure.`);
      }
    }
  }

  dispose(): void {
    for (const tensor of this.#tensors.values()) tensor.dispose();
  }

  #entryOf(name: string): Entry {
    return this.#entries.get(name) ?? reject(`there is no tensor ${JSON.stringify(name)}.`);
  }
}

function arrayOf(type: string, { buffer, length }: Uint8Array<ArrayBuffer>): NumberArray {
  const Kind = kArrays.find(({ name }) => name === type);
  if (Kind === undefined) reject(`its structure has an array of the unknown type ${type}.`);
  if (length % Kind.BYTES_PER_ELEMENT !== 0) reject(`a ${type} cannot have ${length} bytes.`);
  return new Kind(buffer);
}
