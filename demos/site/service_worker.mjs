// The service worker, which adds the headers for threads on a server that sends none and keeps the demos for visits without a
// network, and the script of every page that registers it where the headers are missing.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { kPython } from "./python_files.mjs";

const kHere = join(dirname(fileURLToPath(import.meta.url)), "service_worker");
const kIsolate = "isolate.js";
// The script of the button on the first page of the docs.
const kKeepDocs = "keep_docs.js";

/** The folder of scripts that a page loads only on request, and which are not kept: other libraries. */
export const kPeers = "assets/peers/";

/** A Vite plugin that builds the scripts of pages for the service worker next to the pages, and loads isolate.ts in each of them. */
export function isolatedPages() {
  return {
    name: "isolated-pages",
    apply: "build",
    async generateBundle() {
      for (const fileName of [kIsolate, kKeepDocs]) {
        const { outputFiles } = await bundle(fileName.replace(".js", ".ts"), { write: false });
        this.emitFile({ type: "asset", fileName, source: outputFiles[0].contents });
      }
    },
    transformIndexHtml: {
      order: "post",
      handler: (_, { path }) => {
        const toRoot = "../".repeat(path.split("/").length - 2) || "./";
        return [{ tag: "script", attrs: { src: `${toRoot}${kIsolate}`, defer: true } }];
      },
    },
  };
}

/** A Vite plugin that builds service_worker/worker.ts with the list of all files of the site. */
export function serviceWorker() {
  return {
    name: "service-worker",
    apply: "build",
    writeBundle: {
      order: "post",
      sequential: true,
      handler: ({ dir }) => {
        const files = JSON.stringify(filesIn(dir));
        return bundle("worker.ts", {
          outfile: join(dir, "offline_worker.js"),
          define: {
            kFiles: files,
            kVersion: JSON.stringify(hashOf(files)),
            "process.env.NODE_ENV": '"production"',
          },
        });
      },
    },
  };
}

function bundle(name, options) {
  return build({
    entryPoints: [join(kHere, name)],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    logLevel: "error",
    ...options,
  });
}

function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path, path.slice(folder.length + 1).replaceAll("\\", "/")])
    .filter(([, url]) => !url.startsWith(kPeers) && !url.startsWith(kPython))
    .sort()
    .map(([path, url]) => {
      // The names in this folder contain a hash already.
      return { url, revision: url.startsWith("assets/") ? null : hashOf(readFileSync(path)) };
    });
}

function hashOf(content) {
  return createHash("sha256").update(content).digest("hex").slice(0, 16);
}
