// web/src/webgpu/formula_shader.ts as a module of its own.

import { build } from "esbuild";
import { kRoot } from "../../js/support/files.mjs";

const { outputFiles } = await build({
  entryPoints: [`${kRoot}web/src/webgpu/formula_shader.ts`],
  bundle: true,
  format: "esm",
  write: false,
  loader: { ".wgsl": "text" },
  logLevel: "error",
});
const code = Buffer.from(outputFiles[0].contents).toString("base64");

export const { contiguousAccess, formulas, forwardShader, gradientShader, workgroupSize } =
  await import(`data:text/javascript;base64,${code}`);
