// What "edgegrad" and "edgegrad/single" are in Cloudflare Workers and in Vercel's edge runtime (the conditions "workerd" and
// "edge-light" of package.json). There WebAssembly is compiled ahead, from a file that is imported like this.

import wasmModule from "../wasm/edgegrad-single.wasm?module";
import { type InitOptions, init as start } from "./index.js";

export * from "./index.js";

/** As `init` of edgegrad, by default with the WebAssembly file that is imported here. */
export async function init(...given: [options?: InitOptions]): Promise<void> {
  const [options = {}, ...rest] = given;
  const isGiven = "wasmModule" in Object(options) || "wasmUrl" in Object(options);
  // start() refuses options that are not an object.
  const isOther = isGiven || typeof options !== "object" || options === null;
  await start(isOther ? options : { ...options, wasmModule }, ...rest);
}
