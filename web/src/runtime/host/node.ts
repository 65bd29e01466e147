// Node's API, which Deno and Bun also have.

/** Returns the global process; undefined also in Vercel's edge runtime, where reading the properties of Node's throws. */
export function processHere(): typeof globalThis.process | undefined {
  return "EdgeRuntime" in globalThis ? undefined : globalThis.process;
}

// Electron's windows, and the workers in them: where these have Node's API, they have the browser's, too.
const kOfPages = ["renderer", "worker", "service-worker"];

/**
 * Returns the process of Node; undefined in pages, and where Node is imitated without its files and threads: in a window of Electron,
 * in Cloudflare Workers and in Vercel's edge runtime. The engine's script decides in the same way (scripts/building/bundlable.mjs).
 */
export function nodeProcess(): typeof globalThis.process | undefined {
  const process = processHere();
  const isPage = kOfPages.includes((process as { type?: string } | undefined)?.type ?? "");
  const isImitated = isPage || globalThis.navigator?.userAgent === "Cloudflare-Workers";
  return process?.getBuiltinModule === undefined || isImitated ? undefined : process;
}

/** Returns Node's module for files; undefined elsewhere. */
export function nodeFiles() {
  return nodeProcess()?.getBuiltinModule("node:fs");
}
