// The types of the imports edgegrad/wasm/*.mjs.

/** Starts a WebAssembly file; `init` calls it. */
declare const create: (options: object) => Promise<object>;

export default create;
