// What a host must have. One that lacks it would fail with an error that names something else.

import { fail } from "../errors/errors.js";
import { processHere } from "../host/node.js";

/** Throws Internal, in the name of `where`, if the engine cannot run in this host. Older versions of Node lack getBuiltinModule(). */
export function requireHost(where: string): void {
  const { versions, getBuiltinModule } = processHere() ?? {};
  if (versions?.node !== undefined && getBuiltinModule === undefined && !isPage()) {
    fail("Internal", where, `this is Node ${versions.node}, and edgegrad needs 20.16 or newer.`);
  }
  if (typeof WebAssembly === "undefined") {
    const how = "missing or switched off here (as by node --jitless, or in iOS's Lockdown Mode)";
    fail("Internal", where, `WebAssembly is ${how}, and edgegrad needs it.`);
  }
}

// A window of Electron whose preload script has a part of Node's API.
function isPage(): boolean {
  return typeof document === "object";
}
