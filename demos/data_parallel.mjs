// Data-parallel training: every worker processes its share of every batch, and the gradients are averaged in shared memory.
// Unlike Hogwild (hogwild.mjs) it computes the same as a single worker: the losses are equal.
// `node demos/data_parallel.mjs --help` lists the options.

import { kHelp, readOptions } from "./data_parallel/options.mjs";
import { runCommandLine } from "./support/options.mjs";

// Imported dynamically, so that --help prints before the engine is loaded.
await runCommandLine(readOptions(process.argv.slice(2)), kHelp, async (options) => {
  const { run } = await import("./data_parallel/run.mjs");
  return run(options);
});
