import { readNothing, readOptions } from "../arguments/read.js";
import type { Options } from "../arguments/rule.js";
import { kFactoryOptions, withFactoryOptions } from "../tensor/factory_options.js";
import type { Tensor } from "../tensor/tensor.js";
import { parseFile } from "./safetensors_header.js";
import { tensorOf } from "./stored_elements.js";

const kOptions = {
  /** The device of the tensors; default "cpu". */
  device: kFactoryOptions.device,
};

/** Options of `loadSafetensors`. */
export type LoadSafetensorsOptions = Options<typeof kOptions>;

/** Returns the tensors of a safetensors file by name. */
export function loadSafetensors(
  bytes: Uint8Array | ArrayBuffer,
  ...rest: [options?: LoadSafetensorsOptions]
): Record<string, Tensor> {
  const where = "loadSafetensors";
  const options = { ...readOptions(where, kOptions, rest), requiresGrad: false };
  const { entries, data } = parseFile(where, bytes);
  const tensors: [string, Tensor][] = [];
  try {
    for (const entry of entries) {
      const bytes = data.subarray(entry.start, entry.end);
      tensors.push([entry.name, withFactoryOptions(tensorOf(where, entry, bytes), options)]);
    }
  } catch (error) {
    for (const [, tensor] of tensors) tensor.dispose();
    throw error;
  }
  // fromEntries() and not assignment, because a tensor may be called "__proto__".
  return Object.fromEntries(tensors);
}

/** Returns the metadata of a safetensors file: strings by name. */
export function readSafetensorsMetadata(
  bytes: Uint8Array | ArrayBuffer,
  ...rest: []
): Record<string, string> {
  readNothing("readSafetensorsMetadata", rest);
  return { ...parseFile("readSafetensorsMetadata", bytes).metadata };
}
