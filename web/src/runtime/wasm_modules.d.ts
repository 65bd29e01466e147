// The JavaScript files that Emscripten generates for the .wasm files.
declare module "*.mjs" {
  const factory: import("./native.js").ModuleFactory;
  export default factory;
}
