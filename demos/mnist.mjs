// Trains a digit classifier on the 60,000 MNIST digits, tests it on 10,000 others, saves its weights,
// loads them again and classifies five digits. `node demos/mnist.mjs --help` lists the options.

import { kHelp, readOptions } from "./mnist/options.mjs";
import { runCommandLine } from "./support/options.mjs";

// Imported dynamically, so that --help prints before the engine is loaded.
await runCommandLine(readOptions(process.argv.slice(2)), kHelp, async (options) => {
  const { run } = await import("./mnist/run.mjs");
  return run(options);
});
