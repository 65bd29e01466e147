// Which layers see only a window of last tokens.

import { fail } from "../../errors/errors.js";
import type { Config } from "../config/config.js";

/** What each layer sees: that many last tokens, or null for all. */
export type Windows = readonly (number | null)[];

const kTypes = ["full_attention", "sliding_attention"];

/** Returns `window` for the layers that layer_types says, or without it for those for which `isSliding` is true. */
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
