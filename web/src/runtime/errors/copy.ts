// Copies of the package in one program, as package managers and bundlers make them by mistake: each has an engine of its own, and none
// knows the tensors of another. Errors about such an object say so.

import { kVersion } from "../start/version.js";
import { fileOfPackage } from "./own_frames.js";

/** One of the copies. */
interface Copy {
  /** Its version and file. */
  readonly name: string;
}

/** The property by which copies recognize each other's tensors, modules, optimizers and generators. */
export const kCopy = Symbol.for("edgegrad.copy");

/** The value of kCopy here. */
export const kThisCopy: Copy = {
  get name() {
    return `${kVersion} in ${fileOfPackage() ?? "a bundle"}`;
  },
};

/** Returns which other copy of the package a value belongs to; undefined for any other value. */
export function otherCopyOf(value: object): Copy | undefined {
  try {
    const { [kCopy]: copy } = value as { [kCopy]?: Copy };
    return copy === kThisCopy ? undefined : copy;
  } catch {
    // A proxy that throws.
    return undefined;
  }
}
