// Node loads this first (--import) in a process that measures another build: `edgegrad` then resolves to the build in
// EG_BENCH_DIST.

import { register } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isMainThread } from "node:worker_threads";

let entry = null;

/** Node's hooks run on a separate thread, which loads this file too. */
export function initialize(url) {
  entry = url;
}

export function resolve(specifier, context, next) {
  return specifier === "edgegrad" ? { url: entry, shortCircuit: true } : next(specifier, context);
}

if (isMainThread) {
  const data = pathToFileURL(join(process.env.EG_BENCH_DIST, "index.js")).href;
  register(import.meta.url, { data });
}
