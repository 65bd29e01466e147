// A GPT: learns to predict the next character of Moby-Dick, and generates text by sampling from its predictions.
// (demos/char_model is the same with a command line, checkpoints and WebGPU.)

import { readFileSync } from "node:fs";
import * as eg from "edgegrad";
import { exportIfWanted } from "./support/onnx.mjs";
import { stepsWanted, tell } from "./support/steps.mjs";

const kContext = 64;
const kWidth = 64;
const kHeads = 4;
const kBlocks = 2;
const kBatch = 16;
const { Embedding, GELU, LayerNorm, Linear, Module, Sequential } = eg.nn;

class Block extends Module {
  norm1 = new LayerNorm(kWidth);
  qkv = new Linear(kWidth, 3 * kWidth);
  projection = new Linear(kWidth, kWidth);
  norm2 = new LayerNorm(kWidth);
  mlp = new Sequential(new Linear(kWidth, 4 * kWidth), new GELU(), new Linear(4 * kWidth, kWidth));

  forward(x) {
    const y = x.add(this.attend(this.norm1.call(x)));
    return y.add(this.mlp.call(this.norm2.call(y)));
  }

  attend(x) {
    const heads = this.qkv.call(x).unflatten(2, [3, kHeads, -1]).permute([2, 0, 3, 1, 4]);
    const [query, key, value] = heads.unbind(0);
    const mixed = eg.scaledDotProductAttention(query, key, value, { isCausal: true });
    return this.projection.call(mixed.transpose(1, 2).flatten(2));
  }
}

class Gpt extends Module {
  constructor(characters) {
    super();
    this.characters = new Embedding(characters, kWidth);
    this.places = new Embedding(kContext, kWidth);
    this.blocks = new Sequential(...Array.from({ length: kBlocks }, () => new Block()));
    this.norm = new LayerNorm(kWidth);
    this.head = new Linear(kWidth, characters);
  }

  forward(tokens) {
    const places = this.places.weight.narrow(0, 0, tokens.shape[1]);
    const x = this.characters.call(tokens).add(places);
    return this.head.call(this.norm.call(this.blocks.call(x)));
  }
}

const steps = stepsWanted(1000);
await eg.init();
eg.manualSeed(0);

const book = new URL("../demos/char_model/moby_dick.txt", import.meta.url);
const text = readFileSync(book, "utf8").replace(/(\S)\r?\n(?=\S)/g, "$1 ");
const alphabet = [...new Set(text)].sort();
const codes = new Map(alphabet.map((character, code) => [character, BigInt(code)]));
const tokens = eg.tensor(BigInt64Array.from(text, (character) => codes.get(character)));

const model = new Gpt(alphabet.length);
const optimizer = new eg.optim.AdamW(model.parameters(), { lr: 3e-3, betas: [0.9, 0.99] });

/** Random windows of the book: the inputs, and for each character the one that follows it. */
function randomWindows() {
  const starts = eg.randint(0, tokens.numel - kContext, [kBatch, 1]);
  const windows = tokens.take(starts.add(eg.arange(kContext + 1)));
  return [windows.narrow(1, 0, kContext), windows.narrow(1, 1, kContext)];
}

for (let step = 0; step < steps; step++) {
  eg.scope(() => {
    const [read, following] = randomWindows();
    const loss = eg.crossEntropy(model.call(read).flatten(0, 1), following.flatten());
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    tell(step, steps, { loss: loss.item() });
  });
}

/** Samples the next character of a text from the model's probabilities; a low temperature prefers likely characters. */
function next(written, temperature = 0.8) {
  return eg.scope(() => {
    const read = [...written.slice(-kContext)].map((character) => codes.get(character));
    const scores = eg.noGrad(() => model.call(eg.tensor([read]))).select(1, -1);
    return alphabet[eg.multinomial(scores.div(temperature).softmax(-1), 1).item()];
  });
}

let written = "Call me ";
while (written.length < 300) written += next(written);
console.log(written);
await exportIfWanted("gpt", model, [tokens.narrow(0, 0, 16).unsqueeze(0)], {
  input: { 0: "batch", 1: "time" },
});
