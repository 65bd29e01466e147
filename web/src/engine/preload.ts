// eg.preload(): downloads the engine before it is needed.

import { readOptions } from "../arguments/read.js";
import type { Options } from "../arguments/rule.js";
import { isStarted } from "../runtime/bridge/bridge.js";
import { preloadModule } from "../runtime/start/load.js";
import { chooseVariant } from "../runtime/start/variant.js";
import { kInitOptions } from "./init_options.js";

const kOptions = {
  /** The WebAssembly build that init() will use; default "auto". */
  variant: kInitOptions.variant,
  /** The location that init() will be called with. */
  wasmUrl: kInitOptions.wasmUrl,
};

/** Options of `preload`. */
export type PreloadOptions = Options<typeof kOptions>;

/**
 * Starts to download and compile the engine, which init() then uses; call it early, for example while a page is being built. It
 * starts no threads and takes no memory for tensors. init() reports problems with the download. In Node it only loads the script.
 */
export function preload(...given: [options?: PreloadOptions]): void {
  const { variant, wasmUrl } = readOptions("preload", kOptions, given);
  if (!isStarted()) preloadModule(chooseVariant(variant, "preload"), wasmUrl);
}
