// The package as one file, dist/index.js: for Node, which reads it in half the time of as many modules, and for pages without a
// bundler, for which every module would be a request. Bundlers are given the modules instead (package.json: "module").
//
// What is imported is there as a whole, so everything is done at once. A thread of spawn() must find its engine even if
// its module calls nothing but methods.

import { endOwnCode } from "./runtime/own_frames.js";
import { attachTensorMethods } from "./tensor_methods.js";
import { joinHost } from "./threads/host.js";

export * from "./index.js";

attachTensorMethods();
joinHost();
endOwnCode();
