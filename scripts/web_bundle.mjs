/** esbuild's options for a bundle of files in web: what remains outside, and shaders as text. */
export const kWebBundle = {
  bundle: true,
  format: "esm",
  external: ["./wasm/*", "../wasm/*", "node:*", "webgpu", "edgegrad"],
  loader: { ".wgsl": "text" },
  logLevel: "error",
};
