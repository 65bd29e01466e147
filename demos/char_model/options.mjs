// The demo's command line.

import { oneOf, positiveNumber, readCommandLine, wholeNumber } from "../support/options.mjs";

export const kHelp = `Trains a small GPT on Moby-Dick, character by character, and lets it write.

  --steps N        steps to take (default 1000)
  --size S         tiny, or small: slower and better (default tiny)
  --device D       cpu or webgpu (default cpu)
  --threads N      CPU threads (default: as many as the machine has, at most 8)
  --prompt T       what it goes on with (default "Call me")
  --characters N   how many it writes at the end (default 400)
  --temperature X  how daring it writes: 0.1 repeats itself, 1 is its own opinion (default 0.8)
  --seed N         of the first weights and of what is read (default 0)
  --save FILE      keeps weights and optimiser there, and goes on from it where it exists
  --help           this text

Ctrl-C ends the training after the current step; it saves and writes all the same.`;

const kOptions = {
  steps: { type: "string", default: "1000" },
  size: { type: "string", default: "tiny" },
  device: { type: "string", default: "cpu" },
  threads: { type: "string" },
  prompt: { type: "string", default: "Call me" },
  characters: { type: "string", default: "400" },
  temperature: { type: "string", default: "0.8" },
  seed: { type: "string", default: "0" },
  save: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
};

/** Returns the options, or what is wrong with them. */
export function readOptions(args) {
  return readCommandLine(args, kOptions, (values) => ({
    ...values,
    steps: wholeNumber("steps", values.steps, 0),
    size: oneOf("size", values.size, ["tiny", "small"]),
    device: oneOf("device", values.device, ["cpu", "webgpu"]),
    threads: values.threads === undefined ? undefined : wholeNumber("threads", values.threads, 1),
    characters: wholeNumber("characters", values.characters, 0),
    temperature: positiveNumber("temperature", values.temperature),
    seed: wholeNumber("seed", values.seed, 0),
  }));
}
