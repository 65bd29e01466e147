// The types of the imports edgegrad/wasm/*.wasm. The bundler decides what such an import is.

/** What a compiled module has; without the DOM, TypeScript does not know its type. */
interface Compiled {
  readonly [Symbol.toStringTag]: string;
}

/**
 * A WebAssembly file: where it is compiled ahead, as in Cloudflare Workers, the module to pass to `init` as `wasmModule`; where it is
 * copied, its location, to pass as `wasmUrl`.
 */
declare const file: Compiled & string;

export default file;
