// Node's API, which Deno and Bun also have, but pages do not.

type Process = typeof globalThis.process;

/** Returns the process, or null where Node's modules are not available. */
export function nodeProcess(): Process | null {
  const { process } = globalThis as { process?: Process };
  return typeof process?.getBuiltinModule === "function" ? process : null;
}
