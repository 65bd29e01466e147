// Running the garbage collector, which a program cannot normally do.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/** Collects all garbage; finalizers run in later tasks. */
export const gc = runInNewContext("gc");
