import { readFileSync } from "node:fs";

/** esbuild's options for a bundle of files in web: what remains outside, and shaders and style sheets as text. */
export const kWebBundle = {
  bundle: true,
  format: "esm",
  external: ["./wasm/*", "../wasm/*", "node:*", "webgpu", "edgegrad"],
  loader: { ".wgsl": "text", ".css": "text" },
  logLevel: "error",
};

/**
 * A plugin that loads WGSL files as shorter texts: without comments, and indented by one space, because declarations end with a brace
 * that is not indented (web/src/webgpu/words.ts).
 */
export const kShaders = {
  name: "shaders",
  setup({ onLoad }) {
    onLoad({ filter: /\.wgsl$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8").replace(/\s*\/\/.*$/gm, "");
      return {
        contents: text.replace(/\n\s+/g, (gap) => (/ $/.test(gap) ? "\n " : "\n")),
        loader: "text",
      };
    });
  },
};
