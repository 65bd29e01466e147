// Two service workers. A static site cannot send the two headers that threads require, so one adds them, at once. If the server
// sends them (`npm run site:serve`), it does nothing. The other keeps the demos for visits without a network, and takes over
// from the first, because a folder can only have one.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const kHere = dirname(fileURLToPath(import.meta.url));
const kIsolating = "coi-serviceworker.js";
const kOffline = "offline_worker.js";

/** The folder of scripts that a page loads only on request, and which are not kept: other libraries. */
export const kPeers = "assets/peers/";

/** A Vite plugin that copies the script of the package coi-serviceworker next to the pages and loads it in each of them. */
export function isolatingWorker() {
  return {
    name: "isolating-worker",
    apply: "build",
    generateBundle() {
      const script = createRequire(import.meta.url).resolve("coi-serviceworker");
      this.emitFile({ type: "asset", fileName: kIsolating, source: readFileSync(script) });
    },
    transformIndexHtml: {
      order: "post",
      handler: (_, { path }) => {
        const toRoot = "../".repeat(path.split("/").length - 2) || "./";
        return [{ tag: "script", attrs: { src: `${toRoot}${kIsolating}`, defer: true } }];
      },
    },
  };
}

/** A Vite plugin that builds offline/worker.ts with the list of all files of the site. */
export function offlineWorker() {
  return {
    name: "offline-worker",
    apply: "build",
    writeBundle: {
      order: "post",
      sequential: true,
      handler: ({ dir }) =>
        build({
          entryPoints: [join(kHere, "offline", "worker.ts")],
          outfile: join(dir, kOffline),
          bundle: true,
          minify: true,
          format: "iife",
          target: "es2022",
          logLevel: "error",
          define: {
            kFiles: JSON.stringify(filesIn(dir)),
            "process.env.NODE_ENV": '"production"',
          },
        }),
    },
  };
}

function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path, path.slice(folder.length + 1).replaceAll("\\", "/")])
    .filter(([, url]) => !url.startsWith(kPeers))
    .sort()
    .map(([path, url]) => {
      // The names in this folder contain a hash already.
      return { url, revision: url.startsWith("assets/") ? null : hashOf(path) };
    });
}

function hashOf(path) {
  return createHash("sha256").update(readFileSync(path)).digest("hex").slice(0, 16);
}
