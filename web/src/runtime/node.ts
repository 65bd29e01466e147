// Node's API, which Deno and Bun also have.

/** Returns the global process; undefined also in Vercel's edge runtime, where reading the properties of Node's throws. */
export function processHere(): typeof globalThis.process | undefined {
  return "EdgeRuntime" in globalThis ? undefined : globalThis.process;
}

/**
 * Returns the process of Node; undefined in pages, and where Node is imitated without its files and threads: in a window of Electron,
 * in Cloudflare Workers and in Vercel's edge runtime. The engine's script decides in the same way (scripts/bundlable.mjs).
 */
export function nodeProcess(): typeof globalThis.process | undefined {
  const process = processHere();
  const isWindow = (process as { type?: string } | undefined)?.type === "renderer";
  const isImitated = isWindow || globalThis.navigator?.userAgent === "Cloudflare-Workers";
  return process?.getBuiltinModule === undefined || isImitated ? undefined : process;
}

/** Returns Node's module for files; undefined elsewhere. */
export function nodeFiles() {
  return nodeProcess()?.getBuiltinModule("node:fs");
}
