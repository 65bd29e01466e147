import { readNothing, readOptions } from "../arguments/read.js";
import type { Options } from "../arguments/rule.js";
import { kFactoryOptions, withFactoryOptions } from "../tensor/factory_options.js";
import type { Tensor } from "../tensor/tensor.js";
import { parseFile, readTensor } from "./safetensors_file.js";

const kOptions = {
  /** Where the tensors are to be; default "cpu". */
  device: kFactoryOptions.device,
};

/** Options of `loadSafetensors`. */
export type LoadSafetensorsOptions = Options<typeof kOptions>;

/**
 * Returns the tensors of a safetensors file by name. What has no dtype here becomes one that has all of its values: int8, int16 and uint16 become int32,
 * uint32 and uint64 int64, and numbers of 8 bits float16.
 */
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
      tensors.push([entry.name, withFactoryOptions(readTensor(entry, data, where), options)]);
    }
  } catch (error) {
    for (const [, tensor] of tensors) tensor.dispose();
    throw error;
  }
  // Not by assignment: a tensor may be called "__proto__".
  return Object.fromEntries(tensors);
}

/** Returns the text that a safetensors file has beside its tensors, by name. */
export function readSafetensorsMetadata(
  bytes: Uint8Array | ArrayBuffer,
  ...rest: []
): Record<string, string> {
  readNothing("readSafetensorsMetadata", rest);
  return { ...parseFile("readSafetensorsMetadata", bytes).metadata };
}
