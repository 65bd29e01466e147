// Node's API, which Deno and Bun also have.

/**
 * Returns the process of Node; undefined in pages, and where Node is imitated without its files and threads: in a window of Electron,
 * and in Cloudflare Workers. bindings' scripts decide in the same way (scripts/bundlable.mjs).
 */
export function nodeProcess(): typeof globalThis.process | undefined {
  const { process, navigator } = globalThis;
  const isWindow = (process as { type?: string } | undefined)?.type === "renderer";
  const isImitated = isWindow || navigator?.userAgent === "Cloudflare-Workers";
  return process?.getBuiltinModule === undefined || isImitated ? undefined : process;
}

/** Returns Node's module for files; undefined elsewhere. */
export function nodeFiles() {
  return nodeProcess()?.getBuiltinModule("node:fs");
}
