// The frames of the package where it is one file, as in Node.js, Deno, Bun and test runners. There source maps may be applied to stacks,
// after which the package's code can no longer be told apart by its positions.

import { processHere } from "../host/node.js";
import type { OneFile } from "./own_frames.js";

/** The file of the installed package. */
const kPackageFile = /\/edgegrad(?:\/[^/]+)?\/dist\/index\.js$/;

/** Finds the frames of the package in its one file. */
export const kOneFile: OneFile = {
  framesIn(read) {
    if (showsSources()) return null;
    const descriptor = Object.getOwnPropertyDescriptor(Error, "prepareStackTrace");
    let frames: string[] | null = null;
    const value = (_error: unknown, calls: readonly unknown[]) => {
      frames = calls.map((call) => `    at ${call}`);
      return "";
    };
    const attributes = { value, configurable: true };
    if (!Reflect.defineProperty(Error, "prepareStackTrace", attributes)) return null;
    try {
      read();
    } finally {
      if (descriptor === undefined) Reflect.deleteProperty(Error, "prepareStackTrace");
      else Reflect.defineProperty(Error, "prepareStackTrace", descriptor);
    }
    return frames;
  },

  // Deno cannot say where code ran: it gives the lines of the sources with the name of the file.
  hasNothingElse: (file) => kPackageFile.test(file),
};

// Whether somebody who wants to see the package's sources has started Node.js with --enable-source-maps.
function showsSources(): boolean {
  const process = processHere() as { sourceMapsEnabled?: boolean } | undefined;
  return process?.sourceMapsEnabled === true;
}
