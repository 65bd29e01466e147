// A static site cannot send the two headers that threads require, so a service worker adds them. If the server sends them
// (`npm run site:serve`), it does nothing.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const kName = "coi-serviceworker.js";

/** A Vite plugin that copies the script of the package coi-serviceworker next to the pages and loads it in each of them. */
export function serviceWorker() {
  return {
    name: "service-worker",
    apply: "build",
    generateBundle() {
      const script = createRequire(import.meta.url).resolve("coi-serviceworker");
      this.emitFile({ type: "asset", fileName: kName, source: readFileSync(script) });
    },
    transformIndexHtml: {
      order: "post",
      handler: (_, { path }) => {
        const toRoot = "../".repeat(path.split("/").length - 2) || "./";
        return [{ tag: "script", attrs: { src: `${toRoot}${kName}` } }];
      },
    },
  };
}
