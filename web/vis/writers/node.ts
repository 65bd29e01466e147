// Node's API, which Deno and Bun also have; pages have none of it.

type Process = typeof globalThis.process;

/** Returns the process, or null where there is none with Node's modules. */
export function nodeProcess(): Process | null {
  const { process } = globalThis as { process?: Process };
  return typeof process?.getBuiltinModule === "function" ? process : null;
}
