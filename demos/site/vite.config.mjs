// The site: every folder here with an index.html is a page, and addresses are relative, so that it works in any
// folder of any server. `npm run site` builds it into build/site.

import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { kAddons } from "../../scripts/addons.mjs";
import { kIsolation } from "../../scripts/isolation.mjs";
import { exampleModelFile } from "./converter/example/plugin.mjs";
import { digitShards } from "./digits/shards.mjs";
import { pageFrame } from "./page_frame.mjs";
import { kPython, pythonFiles } from "./python_files.mjs";
import { isolatedPages, kPeers, serviceWorker } from "./service_worker.mjs";
import { startPage } from "./start/from_readme.mjs";
import { starterProject } from "./starter.mjs";

const kHere = dirname(fileURLToPath(import.meta.url));
const kRoot = join(kHere, "../..");

const pages = readdirSync(kHere, { recursive: true }).filter((name) => /index\.html$/.test(name));

// The package as it was built here, and its add-ons.
const alias = [["edgegrad", "dist/index.js"], ...kAddons.map(addon)].map(([name, file]) => ({
  find: new RegExp(`^${name}$`),
  replacement: join(kRoot, file),
}));

// Its files as they are, for pages that put them into a file.
alias.push({ find: /^edgegrad-files\//, replacement: `${join(kRoot, "dist")}/` });

function addon(name) {
  return [`edgegrad/${name}`, `dist/${name}/index.js`];
}

// The libraries with which a page compares this one are not kept for visits without a network: see service_worker.mjs.
function chunkFileNames({ moduleIds }) {
  const isPeer = moduleIds.some((id) => /node_modules\/(@tensorflow|@jax-js)\//.test(id));
  return `${isPeer ? kPeers : "assets/"}[name]-[hash].js`;
}

// The wheel of edgegrad/pyodide lies beside Pyodide.
function assetFileNames({ names }) {
  return `${names.some((name) => name.endsWith(".whl")) ? kPython : "assets/"}[name]-[hash][extname]`;
}

// What pages of the docs load when somebody runs a program.
const kLive = join(kHere, "live", "index.ts");

function entryFileNames({ facadeModuleId }) {
  return facadeModuleId === kLive ? "live.js" : "assets/[name]-[hash].js";
}

export default defineConfig({
  root: kHere,
  base: "./",
  resolve: { alias },
  plugins: [
    pageFrame(kHere),
    startPage(kHere, join(kRoot, "README.md")),
    isolatedPages(),
    digitShards(),
    exampleModelFile(),
    pythonFiles(),
    starterProject(),
    serviceWorker(),
  ],
  worker: { format: "es", rolldownOptions: { output: { assetFileNames, chunkFileNames } } },
  server: { headers: kIsolation, fs: { allow: [kRoot] } },
  build: {
    outDir: join(kRoot, "build/site"),
    emptyOutDir: true,
    target: "es2022",
    // The size of the code editor, which is loaded after the page.
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      input: [...pages.map((name) => join(kHere, name)), kLive],
      output: { entryFileNames },
      preserveEntrySignatures: "allow-extension",
    },
  },
});
