// Which layers have a sliding window.

import { fail } from "../../errors/errors.js";
import type { Config } from "../config/config.js";

/** The sliding window of each layer in tokens, or null for all tokens. */
export type Windows = readonly (number | null)[];

const kTypes = ["full_attention", "sliding_attention"];

/** Returns the window of each layer: `window` if layer_types says that it slides or, without layer_types, if `isSliding` is true for it. */
export function windowsOf(
  config: Config,
  layers: number,
  window: number | null,
  isSliding: (index: number) => boolean,
): Windows {
  const types = config.textsOrNull("layer_types");
  if (types === null) {
    return Array.from({ length: layers }, (_, i) => (isSliding(i) ? window : null));
  }
  const other = types.find((type) => !kTypes.includes(type));
  if (other !== undefined) config.refuse("layer_types", other, kTypes);
  if (types.length !== layers) {
    const message = `config.json: layer_types has ${types.length} entries for ${layers} layers.`;
    fail("InvalidArgument", "fromPretrained", message);
  }
  return types.map((type) => (type === "sliding_attention" ? window : null));
}
