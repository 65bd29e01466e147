// Data-parallel training: every worker takes its share of every batch, and the gradients are averaged in shared memory.
// Unlike Hogwild (hogwild.mjs) it computes what one worker would: the losses are the same.
// `node demos/data_parallel.mjs --help` lists the options.

import { kHelp, readOptions } from "./data_parallel/options.mjs";
import { runCommandLine } from "./support/options.mjs";

// Imported only where it is needed: --help answers before the engine is loaded.
await runCommandLine(readOptions(process.argv.slice(2)), kHelp, async (options) => {
  const { run } = await import("./data_parallel/run.mjs");
  return run(options);
});
