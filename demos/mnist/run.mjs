// Runs the demo from start to finish.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as eg from "edgegrad";
import { kInterrupted, startEngine, watchInterrupt } from "../support/engine.mjs";
import { startProgress } from "../support/progress.mjs";
import { loadDigits } from "./data.mjs";
import { drawDigits } from "./drawing.mjs";
import { accuracy, makeModel, probabilities, trainStep } from "./model.mjs";

const kDefaultOut = fileURLToPath(new URL("../../build/mnist.safetensors", import.meta.url));
// The displayed loss is a running average over about this many steps.
const kSmoothing = 50;

/** Runs the demo and returns the exit status. */
export async function run(options) {
  if (!(await startEngine(options))) return 1;
  const { train, test } = loadDigits();
  console.log(`MNIST: ${train.length} training digits, ${test.length} test digits`);
  eg.manualSeed(options.seed);
  const model = makeModel(options.model, options.device);
  const interrupt = watchInterrupt();
  await fit(model, train, test, options, interrupt);

  const out = options.out === undefined ? kDefaultOut : resolve(options.out);
  save(model, out);
  if (interrupt.happened) return kInterrupted;
  await showDigits(load(options, out), test);
  return 0;
}

async function fit(model, train, test, options, interrupt) {
  const optimizer = new eg.optim.Adam(model.parameters(), { lr: options.lr });
  const loader = new eg.data.DataLoader(train, {
    batchSize: options.batch,
    shuffle: true,
    seed: options.seed,
  });
  // The learning rate decreases to 0, so that the weights converge.
  const [settings] = optimizer.paramGroups;
  const decay = options.lr / (options.epochs * loader.length);
  for (let epoch = 1; epoch <= options.epochs && !interrupt.happened; epoch++) {
    const title = `epoch ${epoch}/${options.epochs}`;
    const start = performance.now();
    const loss = await runEpoch(title, loader, interrupt, (batch) => {
      const loss = trainStep(model, optimizer, batch);
      settings.lr -= decay;
      return loss;
    });
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    if (interrupt.happened) {
      console.log(`${title}: interrupted after ${seconds} s, loss ${loss.toFixed(4)}`);
      return;
    }
    const score = (100 * (await accuracy(model, test))).toFixed(2);
    console.log(`${title}: loss ${loss.toFixed(4)}, test accuracy ${score} %, ${seconds} s`);
  }
}

async function runEpoch(title, loader, interrupt, step) {
  const progress = startProgress(title, loader.dataset.length, "samples");
  let done = 0;
  let steps = 0;
  let shownLoss = 0;
  for await (const batch of loader) {
    const loss = step(batch);
    shownLoss += (loss - shownLoss) / Math.min(++steps, kSmoothing);
    done += batch[0].shape[0];
    for (const tensor of batch) tensor.dispose();
    progress.update(done, shownLoss);
    if (interrupt.happened) break;
  }
  progress.stop();
  return shownLoss;
}

function save(model, out) {
  mkdirSync(dirname(out), { recursive: true });
  const bytes = eg.io.saveSafetensors(model.stateDict(), { metadata: { format: "pt" } });
  writeFileSync(out, bytes);
  console.log(`saved ${relative(process.cwd(), out)} (${(bytes.length / 1000).toFixed(0)} kB)`);
}

function load({ model: name, device }, out) {
  const model = makeModel(name, device);
  model.loadStateDict(eg.io.loadSafetensors(readFileSync(out)));
  return model.eval();
}

async function showDigits(model, test) {
  const chosen = Array.from({ length: 5 }, () => Math.floor(Math.random() * test.length));
  const [images, labels] = test.getBatch(chosen);
  console.log(`\nFive test digits, classified by the model loaded from that file:\n`);
  for (const line of drawDigits(images.arraySync())) console.log(line);
  const truth = labels.arraySync();
  const texts = probabilities(model, images).map((row, i) => {
    const guess = row.indexOf(Math.max(...row));
    const verdict = guess === truth[i] ? "" : ` not ${truth[i]}`;
    return `${guess} (${(100 * row[guess]).toFixed(0)} %)${verdict}`.padEnd(14);
  });
  console.log(`\n${texts.join("  ")}`);
}
