// The demo's command line.

import { readCommandLine, wholeNumber } from "../support/options.mjs";

export const kHelp = `Trains a digit classifier with one worker, then with several that share every batch, and compares.

  --workers N   workers of the second run (default 2)
  --steps N     steps of each run (default 200)
  --batch N     digits per step, a multiple of the workers (default 256)
  --help        this text`;

const kOptions = {
  workers: { type: "string", default: "2" },
  steps: { type: "string", default: "200" },
  batch: { type: "string", default: "256" },
  help: { type: "boolean", short: "h", default: false },
};

/** Returns the options, or a description of what is wrong with them. */
export function readOptions(args) {
  return readCommandLine(args, kOptions, (values) => {
    const workers = wholeNumber("workers", values.workers, 1);
    const batch = wholeNumber("batch", values.batch, 1);
    if (batch % workers !== 0) {
      throw new Error(
        `--batch: expected a multiple of the ${workers} workers, got "${values.batch}"`,
      );
    }
    return { ...values, workers, batch, steps: wholeNumber("steps", values.steps, 1) };
  });
}
