// The demo's command line.

import { oneOf, positiveNumber, readCommandLine, wholeNumber } from "../support/options.mjs";

export const kHelp = `Trains a digit classifier on MNIST.

  --model M     mlp, or cnn: slower and better (default mlp)
  --epochs N    passes over the 60,000 training digits (default 5)
  --batch N     digits per step (default 128)
  --lr X        initial learning rate of Adam, which falls to 0 (default 0.002)
  --device D    cpu or webgpu (default cpu)
  --threads N   CPU threads (default: as many as the machine has, at most 8)
  --variant V   WebAssembly build: auto, relaxed, simd or single (default auto)
  --seed N      seed of the initial weights and of the order of the digits (default 0)
  --out FILE    file for the weights (default build/mnist.safetensors)
  --help        this text

Ctrl-C ends the training after the current step and saves the weights.`;

const kOptions = {
  model: { type: "string", default: "mlp" },
  epochs: { type: "string", default: "5" },
  batch: { type: "string", default: "128" },
  lr: { type: "string", default: "0.002" },
  device: { type: "string", default: "cpu" },
  threads: { type: "string" },
  variant: { type: "string", default: "auto" },
  seed: { type: "string", default: "0" },
  out: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
};

const kChoices = {
  model: ["mlp", "cnn"],
  device: ["cpu", "webgpu"],
  variant: ["auto", "relaxed", "simd", "single"],
};

/** Returns the options, or a description of what is wrong with them. */
export function readOptions(args) {
  return readCommandLine(args, kOptions, convert);
}

function convert(values) {
  for (const [name, choices] of Object.entries(kChoices)) oneOf(name, values[name], choices);
  return {
    ...values,
    epochs: wholeNumber("epochs", values.epochs, 0),
    batch: wholeNumber("batch", values.batch, 1),
    lr: positiveNumber("lr", values.lr),
    threads: values.threads === undefined ? undefined : wholeNumber("threads", values.threads, 1),
    seed: wholeNumber("seed", values.seed, 0),
  };
}
