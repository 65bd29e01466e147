// The package as one file, dist/index.js; scripts/build.mjs says which environments use it.
//
// Setup happens on import here, so a thread of spawn() finds its engine even if its module only calls methods of tensors.

import { markPackageEnd } from "./runtime/own_frames.js";
import { attachTensorMethods } from "./tensor_methods.js";
import { isEngineWorker, joinHost } from "./threads/host.js";

export * from "./index.js";

if (isEngineWorker()) {
  attachTensorMethods();
  joinHost();
}
markPackageEnd(true);
