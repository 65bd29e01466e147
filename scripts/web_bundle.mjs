/** esbuild's options for a bundle of files in web: what remains outside, and shaders and style sheets as text. */
export const kWebBundle = {
  bundle: true,
  format: "esm",
  external: ["./wasm/*", "../wasm/*", "node:*", "webgpu", "edgegrad"],
  loader: { ".wgsl": "text", ".css": "text" },
  logLevel: "error",
};
