// Python for the notebook: the files of Pyodide, as they are in its npm package. A page fetches them when a cell of Python runs.

import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The folder of the site for what only Python needs, which is not kept for other pages: see service_worker.mjs. */
export const kPython = "python/";

const kModule = "virtual:python-files";
const kTypes = { mjs: "text/javascript", wasm: "application/wasm" };
const kNames = [
  "pyodide.mjs",
  "pyodide.asm.mjs",
  "pyodide.asm.wasm",
  "python_stdlib.zip",
  "pyodide-lock.json",
];

/**
 * A Vite plugin that writes the files next to the built pages, and serves them. The module "virtual:python-files" has their `folder` in the
 * site, whose name has the version, their `names`, and how many `bytes` they have together.
 */
export function pythonFiles() {
  const id = `\0${kModule}`;
  const manifest = createRequire(import.meta.url).resolve("pyodide/package.json");
  const folder = `${kPython}${JSON.parse(readFileSync(manifest, "utf8")).version}/`;
  const pathOf = (name) => join(dirname(manifest), name);
  return {
    name: "python-files",
    resolveId: (source) => (source === kModule ? id : null),
    load(source) {
      if (source !== id) return null;
      const bytes = kNames.reduce((sum, name) => sum + statSync(pathOf(name)).size, 0);
      return Object.entries({ folder, names: kNames, bytes })
        .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
        .join("\n");
    },
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const name = request.url.split(`/${folder}`)[1];
        if (!kNames.includes(name)) return next();
        const type = kTypes[name.split(".").at(-1)] ?? "application/octet-stream";
        response.setHeader("Content-Type", type);
        response.end(readFileSync(pathOf(name)));
      });
    },
    generateBundle() {
      for (const name of kNames)
        this.emitFile({
          type: "asset",
          fileName: folder + name,
          source: readFileSync(pathOf(name)),
        });
    },
  };
}
