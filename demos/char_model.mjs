// Trains a small GPT on Moby-Dick, character by character, and generates text with it.
// `node demos/char_model.mjs --help` lists the options.

import { kHelp, readOptions } from "./char_model/options.mjs";
import { runCommandLine } from "./support/options.mjs";

// Imported dynamically, so that --help prints before the engine is loaded.
await runCommandLine(readOptions(process.argv.slice(2)), kHelp, async (options) => {
  const { run } = await import("./char_model/run.mjs");
  return run(options);
});
