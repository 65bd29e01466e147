// The package as one file, dist/index.js; scripts/build.mjs says who gets it.
//
// What is imported is there as a whole: a thread of spawn() finds its engine even if its module calls nothing but methods.

import { endOwnCode } from "./runtime/own_frames.js";
import { attachTensorMethods } from "./tensor_methods.js";
import { isEngineWorker, joinHost } from "./threads/host.js";

export * from "./index.js";

if (isEngineWorker()) {
  attachTensorMethods();
  joinHost();
}
endOwnCode();
