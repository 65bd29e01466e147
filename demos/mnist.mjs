// Trains a digit classifier on the 60,000 MNIST digits, tests it on 10,000 others, saves its weights,
// loads them again and reads five digits. `node demos/mnist.mjs --help` lists the options.

import { kHelp, readOptions } from "./mnist/options.mjs";

const { options, problem } = readOptions(process.argv.slice(2));
if (problem) {
  console.error(`${problem}\n\n${kHelp}`);
  process.exitCode = 2;
} else if (options.help) {
  console.log(kHelp);
} else {
  // Imported only now: --help answers before the engine is loaded.
  const { run } = await import("./mnist/run.mjs");
  process.exitCode = await run(options);
}
