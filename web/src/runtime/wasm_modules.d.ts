// The glue files that Emscripten writes beside the .wasm files.
declare module "*.mjs" {
  const factory: import("./native.js").ModuleFactory;
  export default factory;
}
