// What runtimes for the edge compile ahead.
declare module "*.wasm?module" {
  const module: WebAssembly.Module;
  export default module;
}

// The JavaScript files that Emscripten generates for the .wasm files.
declare module "*.mjs" {
  const factory: import("../bridge/native.js").ModuleFactory;
  export default factory;
}
