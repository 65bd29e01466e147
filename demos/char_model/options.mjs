// The demo's command line.

import { oneOf, positiveNumber, readCommandLine, wholeNumber } from "../support/options.mjs";

export const kHelp = `Trains a small GPT on Moby-Dick, character by character, and generates text with it.

  --steps N        steps to take (default 1000)
  --size S         tiny, or small: slower and better (default tiny)
  --device D       cpu or webgpu (default cpu)
  --threads N      CPU threads (default: as many as the machine has, at most 8)
  --prompt T       the beginning of the generated text (default "Call me")
  --characters N   characters to generate at the end (default 400)
  --temperature X  how random the text is: 0.1 repeats itself, 1 follows the model's probabilities (default 0.8)
  --seed N         seed of the initial weights and of the training windows (default 0)
  --save FILE      saves weights and optimizer state to this file, and resumes from it if it exists
  --help           this text

Ctrl-C ends the training after the current step; the program still saves and generates text.`;

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

/** Returns the options, or a description of what is wrong with them. */
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
