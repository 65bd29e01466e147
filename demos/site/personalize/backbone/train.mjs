// Trains the backbone that the page ships, on pictures that drawn_pictures.mjs draws: `node demos/site/personalize/backbone/train.mjs
// [steps]` writes weights.safetensors and measured.json beside this file. The seeds are fixed, so that it can be trained again.

import { writeFileSync } from "node:fs";
import * as eg from "edgegrad";
import { startProgress } from "../../../support/progress.mjs";
import { seededRandom } from "../../../support/random.mjs";
import { drawPicture, kTargets } from "./drawn_pictures.mjs";
import { Backbone, kFeatures, kSide } from "./model.mjs";

const kFile = new URL("weights.safetensors", import.meta.url);
const kMeasured = new URL("measured.json", import.meta.url);
const kDefaultSteps = 1200;
const kBatch = 64;
const kLargestRate = 4e-3;
const kTestPictures = 512;
const kSmoothing = 50;
const kNames = Object.keys(kTargets);

const steps = Number(process.argv[2] ?? kDefaultSteps);
await eg.init();
eg.manualSeed(0);
const random = seededRandom(1);
const backbone = new Backbone();
const heads = Object.fromEntries(
  kNames.map((name) => [name, new eg.nn.Linear(kFeatures, kTargets[name])]),
);
const parameters = [backbone, ...Object.values(heads)].flatMap((module) => [
  ...module.parameters(),
]);
const optimizer = new eg.optim.AdamW(parameters, { lr: kLargestRate, weightDecay: 0.02 });
const scheduler = new eg.optim.lrScheduler.OneCycleLR(optimizer, {
  maxLr: kLargestRate,
  totalSteps: steps + 1,
  cycleMomentum: false,
});

function drawn(count) {
  const pictures = Array.from({ length: count }, () => drawPicture(random));
  const pixels = new Float32Array(count * 3 * kSide * kSide);
  pictures.forEach((picture, i) => {
    pixels.set(picture.pixels, i * 3 * kSide * kSide);
  });
  const labels = kNames.map((name) => [
    name,
    eg.tensor(
      pictures.map((picture) => picture[name]),
      { dtype: "int64" },
    ),
  ]);
  return {
    pictures: eg.tensor(pixels, { shape: [count, 3, kSide, kSide] }),
    labels: Object.fromEntries(labels),
  };
}

function trainStep() {
  return eg.scope(() => {
    const { pictures, labels } = drawn(kBatch);
    const features = backbone.call(pictures);
    const loss = kNames
      .map((name) => eg.crossEntropy(heads[name].call(features), labels[name]))
      .reduce((sum, loss) => sum.add(loss));
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    scheduler.step();
    return loss.item();
  });
}

// The share of new pictures in which each is recognized.
function accuracies() {
  backbone.eval();
  const { pictures, labels } = drawn(kTestPictures);
  return eg.noGrad(() => {
    const features = backbone.call(pictures);
    const shareOf = (name) =>
      heads[name].call(features).argmax(1).eq(labels[name]).float().mean().item();
    return Object.fromEntries(kNames.map((name) => [name, Number(shareOf(name).toFixed(3))]));
  });
}

const progress = startProgress("training", steps, "steps");
let shown = 0;
for (let step = 1; step <= steps; step++) {
  shown += (trainStep() - shown) / Math.min(step, kSmoothing);
  progress.update(step, shown);
}
progress.stop();
// What the page says of the backbone.
const measured = {
  pictures: steps * kBatch,
  testPictures: kTestPictures,
  kinds: kTargets,
  accuracy: eg.scope(accuracies),
};
console.log("recognized in new pictures:", measured.accuracy);
writeFileSync(kMeasured, `${JSON.stringify(measured, null, 2)}\n`);
const weights = Object.entries(backbone.half().stateDict());
const bytes = eg.io.saveSafetensors(Object.fromEntries(weights));
writeFileSync(kFile, bytes);
console.log(`wrote weights.safetensors, ${(bytes.length / 1e6).toFixed(2)} MB`);
await eg.shutdown();
