// Bundles parts of web/src/webgpu for Node.

import { build } from "esbuild";
import { kShaders } from "../../../scripts/building/web_bundle.mjs";
import { kRoot } from "../../js/support/files.mjs";

/** Returns the exports of a module text, whose imports are relative to that folder. */
export async function bundled(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: `${kRoot}web/src/webgpu`, loader: "ts" },
    bundle: true,
    format: "esm",
    write: false,
    plugins: [kShaders],
    external: ["webgpu"],
    logLevel: "error",
  });
  const code = Buffer.from(outputFiles[0].contents).toString("base64");
  return import(`data:text/javascript;base64,${code}`);
}
