// The page that runs the op laws: the same module as in Node, bundled with a browser's engine.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));

const inPage = {
  name: "in a page",
  setup({ onResolve }) {
    const path = pathOf("page_engine.mjs");
    onResolve({ filter: /\/(engine|files)\.mjs$/ }, () => ({ path }));
  },
};

/** Writes laws.html and laws.js into a folder. */
export async function writeLawPage(folder) {
  await build({
    entryPoints: [pathOf("../../webgpu/support/laws/in_page.mjs")],
    outfile: join(folder, "laws.js"),
    bundle: true,
    format: "esm",
    external: ["edgegrad"],
    plugins: [inPage],
    logLevel: "error",
  });
  const script = '<script type="module" src="./laws.js"></script>';
  writeFileSync(join(folder, "laws.html"), `<!doctype html>\n<title>laws</title>\n${script}\n`);
}
