// The package as one file, dist/index.js; scripts/build.mjs says which environments use it.
//
// Setup happens on import here, so a thread of spawn() finds its engine even if its module only calls methods of tensors. Tests run with
// this form, so that their expect() compares tensors without being told to; bundles of pages do not contain it.

import { kOneFile } from "./runtime/errors/one_file_frames.js";
import { markPackageEnd } from "./runtime/errors/own_frames.js";
import { attachTensorMethods } from "./tensor_methods.js";
import { compareInTestRunner } from "./testing/test_runner.js";
import { isEngineWorker, joinHost } from "./threads/host.js";

export * from "./index.js";

if (isEngineWorker()) {
  attachTensorMethods();
  joinHost();
}
compareInTestRunner();
markPackageEnd(kOneFile);
