// The addresses in files.ts are relative to import.meta.url, which bundlers leave undefined when they write CommonJS, and which some
// runtimes do not have. There they are relative to the script that runs, or empty.

import { fileOfPackage } from "../errors/own_frames.js";
import { nodeProcess } from "../host/node.js";

/** Calls a function of files.ts that contains an address; undefined where no address is known. */
export function addressed<T>(make: () => T): T | undefined {
  // An AudioWorklet knows no addresses.
  if (typeof URL === "undefined") return undefined;
  try {
    return make();
  } catch (error) {
    const base = scriptAddress();
    if (!(error instanceof TypeError)) throw error;
    return base === undefined ? undefined : relativeTo(base, make);
  }
}

function scriptAddress(): string | undefined {
  const file = fileOfPackage();
  if (file === undefined) return undefined;
  if (/^(?:file|https?):/.test(file)) return file;
  return nodeProcess()?.getBuiltinModule("node:url").pathToFileURL(file).href;
}

// The functions contain `new URL("./file", import.meta.url)`, an expression that must not be changed, because bundlers look for it.
function relativeTo<T>(base: string, make: () => T): T {
  const { URL } = globalThis;
  globalThis.URL = class extends URL {
    constructor(url: string | URL, given?: string | URL) {
      super(url, given ?? base);
    }
  } as typeof URL;
  try {
    return make();
  } finally {
    globalThis.URL = URL;
  }
}
