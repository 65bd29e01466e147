// Trains the small model that the page ships, on Moby-Dick: `node demos/site/fine_tune/pretraining/run.mjs [steps]` writes
// demos/site/fine_tune/model. The seed is fixed, so that it can be trained again.

import { readFileSync, writeFileSync } from "node:fs";
import { Tokenizer } from "@huggingface/tokenizers";
import * as eg from "edgegrad";
import { AutoTokenizer, fit } from "edgegrad/transformers";
import { plainText, randomStarts } from "../../../char_model/text.mjs";
import { startProgress } from "../../../support/progress.mjs";
import { kEndToken, learnTokenizer } from "./bpe.mjs";
import { kContext, kVocabulary, newModel } from "./new_model.mjs";

const kFolder = new URL("../model/", import.meta.url);
const kBatch = 8;
const kLargestRate = 4e-3;
const kHeldOutShare = 0.02;
const kSmoothing = 50;
const kDefaultSteps = 2000;

const steps = Number(process.argv[2] ?? kDefaultSteps);
await eg.init();
eg.manualSeed(0);
const book = plainText(
  readFileSync(new URL("../../../char_model/moby_dick.txt", import.meta.url), "utf8"),
);
const tokenizerFiles = {
  "tokenizer.json": JSON.stringify(learnTokenizer(book, kVocabulary)),
  "tokenizer_config.json": JSON.stringify({
    tokenizer_class: "PreTrainedTokenizerFast",
    eos_token: kEndToken,
    model_max_length: 2 * kContext,
  }),
};
const tokenizer = await AutoTokenizer.fromPretrained(tokenizerFiles, { Tokenizer });
// A line at a time, because a paragraph is one.
const tokens = book.split(/(?<=\n)/).flatMap((line) => tokenizer.encode(line));
const end = Math.floor(tokens.length * (1 - kHeldOutShare));
const [train, heldOut] = [tokens.slice(0, end), tokens.slice(end)];
console.log(`${tokens.length} tokens of ${book.length} characters`);

function batchAt(list, starts) {
  const rows = starts.map((start) => list.slice(start, start + kContext));
  const inputIds = eg.tensor(rows, { dtype: "int64" });
  return { inputIds, labels: inputIds };
}

function* batches() {
  for (let i = 0; i < steps; i++) yield batchAt(train, randomStarts(train, kBatch, kContext));
}

async function heldOutLoss(model) {
  const starts = Array.from({ length: 32 }, (_, i) =>
    Math.floor((i * (heldOut.length - kContext)) / 32),
  );
  const { inputIds, labels } = batchAt(heldOut, starts);
  return eg.noGrad(() => eg.scope(() => model.call(inputIds, { labels }).loss.item()));
}

const model = await newModel();
const optimizer = new eg.optim.AdamW(model.parameters(), {
  lr: kLargestRate,
  betas: [0.9, 0.98],
  weightDecay: 0.05,
});
const scheduler = new eg.optim.lrScheduler.OneCycleLR(optimizer, {
  maxLr: kLargestRate,
  totalSteps: steps + 1,
  pctStart: 0.05,
  cycleMomentum: false,
});
const progress = startProgress("training", steps, "steps");
let shown = 0;
await fit(model, batches(), {
  optimizer,
  scheduler,
  clipNorm: 1,
  onStep: ({ step, loss }) => {
    shown += (loss - shown) / Math.min(step, kSmoothing);
    progress.update(step, shown);
  },
});
progress.stop();
console.log(`held-out loss ${(await heldOutLoss(model)).toFixed(3)} per token`);
const files = { ...(await model.half().savePretrained()), ...tokenizerFiles };
for (const [name, content] of Object.entries(files)) writeFileSync(new URL(name, kFolder), content);
const size = Object.values(files).reduce((sum, { length }) => sum + length, 0);
console.log(`wrote ${Object.keys(files).length} files, ${(size / 1e6).toFixed(2)} MB`);
await eg.shutdown();
