// A residual network on MNIST, with shifted images. With `--save FILE` it stores the whole state of the training in a file,
// and resumes exactly from there when it is run again.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import * as eg from "edgegrad";
import { asImages, loadDigits, randomDigits } from "./support/digits.mjs";
import { exportIfWanted } from "./support/onnx.mjs";
import { ResNet } from "./support/resnet.mjs";
import { kSteps, stepsOf, tell } from "./support/steps.mjs";

const kStepsPerCheckpoint = 50;

/** Images, each shifted randomly by up to two pixels. */
function shifted(images) {
  const wide = eg.pad(images, [2, 2, 2, 2]);
  const corners = eg.randint(0, 5, [images.shape[0], 2]).arraySync();
  return eg.stack(corners.map(([y, x], i) => wide.select(0, i).narrow(1, y, 28).narrow(2, x, 28)));
}

const { save, steps: wanted } = parseArgs({
  options: { ...kSteps, save: { type: "string" } },
}).values;
const steps = stepsOf(wanted, 300);
await eg.init();
eg.manualSeed(0);
const { train, test } = loadDigits();

const model = new ResNet(1, 10);
const optimizer = new eg.optim.SGD(model.parameters(), { lr: 0.1, momentum: 0.9, nesterov: true });
const schedule = new eg.optim.lrScheduler.StepLR(optimizer, { stepSize: 150, gamma: 0.3 });
let step = 0;

const parts = { model, optimizer, schedule };
const snapshot = () => ({
  step,
  random: eg.random.getState(),
  ...Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, part.stateDict()])),
});

if (save !== undefined && existsSync(save)) {
  const state = eg.io.load(readFileSync(save));
  for (const name of Object.keys(parts)) parts[name].loadStateDict(state[name]);
  eg.random.setState(state.random);
  step = state.step;
}

while (step < steps) {
  eg.scope(() => {
    const [images, labels] = randomDigits(train, 64);
    const loss = eg.crossEntropy(model.call(shifted(asImages(images))), labels);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    schedule.step();
    tell(step++, steps, { loss: loss.item() });
  });
  const isDue = save !== undefined && (step % kStepsPerCheckpoint === 0 || step === steps);
  if (isDue) writeFileSync(save, eg.io.save(snapshot()));
}

model.eval();
const [images, labels] = randomDigits(test, 1000);
const guesses = eg.noGrad(() => model.call(asImages(images)).argmax(1));
const right = guesses.eq(labels).sum().item();
console.log(`${right} of 1000 test digits are classified correctly`);
await exportIfWanted("resnet", model, [asImages(images.narrow(0, 0, 2))]);
