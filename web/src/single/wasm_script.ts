// The types of the imports edgegrad/wasm/*.mjs.

import type { ModuleFactory } from "../runtime/native.js";

/** Starts a WebAssembly file; `init` calls it. */
declare const create: ModuleFactory;

export default create;
