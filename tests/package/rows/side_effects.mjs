// Tests "sideEffects" in package.json: bundlers remove the package completely from a program that imports it but does not
// use it.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { importFrom } from "../../browser/support/bundlers.mjs";
import { versionOf } from "../tools.mjs";

const kProgram = 'import { Tensor } from "edgegrad";\nimport "edgegrad";\nconsole.log("unused");\n';
const kMostBytes = 200;

const kBundles = {
  esbuild: async (folder, entry, out) => {
    const { default: esbuild } = await importFrom(folder, "esbuild");
    const options = { bundle: true, format: "esm", external: ["./wasm/*"], logLevel: "silent" };
    await esbuild.build({ ...options, entryPoints: [entry], outfile: join(out, "unused.js") });
  },
  Rollup: async (folder, entry, out) => {
    const { rollup } = await importFrom(folder, "rollup");
    const { nodeResolve } = await importFrom(folder, "@rollup/plugin-node-resolve");
    const bundle = await rollup({ input: entry, plugins: [nodeResolve()], external: /\.\/wasm\// });
    await bundle.write({ file: join(out, "unused.js"), format: "es" });
  },
  webpack: async (folder, entry, out) => {
    const { default: webpack } = await importFrom(folder, "webpack");
    const output = { path: out, filename: "unused.js" };
    await new Promise((resolve, reject) => {
      const options = { mode: "production", context: folder, entry, output };
      webpack(options, (error) => (error ? reject(error) : resolve()));
    });
  },
};

const kTools = { Rollup: ["rollup", "@rollup/plugin-node-resolve"] };

export const kSideEffectRows = Object.entries(kBundles).map(([group, bundle]) => ({
  id: `unused-${group.toLowerCase()}`,
  group,
  title: "removed when unused",
  version: () => versionOf(group.toLowerCase()),
  async run({ projects }) {
    const folder = await projects.with(...(kTools[group] ?? [group]));
    const entry = join(folder, "unused.js");
    writeFileSync(entry, kProgram);
    const out = join(folder, "out-unused");
    await bundle(folder, entry, out);
    const { length } = readFileSync(join(out, "unused.js"));
    assert.ok(length < kMostBytes, `${length} bytes remain`);
  },
}));
