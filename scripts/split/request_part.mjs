// For programs.mjs: a function for spawn() with which its thread asks the main thread for a part, as stubs do.

export function requestPart() {
  const { module } = globalThis[Symbol.for("edgegrad.host")];
  module.wasmExports.eg_requestPart(0);
}
