// The types of the imports edgegrad/wasm/*.wasm. What such an import is depends on the tool that bundles it.

/**
 * A WebAssembly file: where it is compiled ahead, as in Cloudflare Workers, the module to pass to `init` as `wasmModule`; where it is
 * copied, its location, to pass as `wasmUrl`.
 */
declare const file: WebAssembly.Module & string;

export default file;
