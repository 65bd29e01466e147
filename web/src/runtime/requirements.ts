// What a host must have. One that lacks it would fail with an error that names something else.

import { fail } from "./errors.js";
import { processHere } from "./node.js";

/** The oldest Node in which the package finds Node's API: since then there is process.getBuiltinModule(). */
const kOldestNode = "20.16";

/** Throws Internal, in the name of `where`, if the engine cannot run in this host. */
export function requireHost(where: string): void {
  const { versions, getBuiltinModule } = processHere() ?? {};
  if (versions?.node !== undefined && getBuiltinModule === undefined && !isPage()) {
    fail(
      "Internal",
      where,
      `this is Node ${versions.node}, and edgegrad needs ${kOldestNode} or newer.`,
    );
  }
  if (typeof WebAssembly === "undefined") {
    const how =
      "WebAssembly is missing or switched off here (as by node --jitless, or in the Lockdown Mode of iOS)";
    fail("Internal", where, `${how}, and edgegrad needs it: the engine is a WebAssembly module.`);
  }
}

// A window of Electron whose preload script has a part of Node's API.
function isPage(): boolean {
  return typeof document === "object";
}
