// Per-sample gradients by vmap: the gradient for every digit of a batch, in one pass. The gradients are clipped, and noise is
// added, so that their sum reveals little about any single digit: DP-SGD, training with differential privacy.

import * as eg from "edgegrad";
import { asImages, loadDigits, randomDigits } from "./support/digits.mjs";
import { exportIfWanted } from "./support/onnx.mjs";
import { stepsWanted, tell } from "./support/steps.mjs";

const kBatch = 32;
const kLargestNorm = 1;
const kNoise = 0.5;
const kRate = 0.2;
const { Conv2d, Flatten, GroupNorm, Linear, MaxPool2d, ReLU, Sequential } = eg.nn;

const steps = stepsWanted(100);
await eg.init();
eg.manualSeed(0);
const { train } = loadDigits();

// Group norm rather than batch norm, which would mix the samples.
const model = new Sequential(
  new Conv2d(1, 8, 5, { stride: 2, padding: 2 }),
  new GroupNorm(2, 8),
  new ReLU(),
  new MaxPool2d(2),
  new Flatten(),
  new Linear(8 * 7 * 7, 10),
);
const parameters = Object.fromEntries(model.namedParameters());

/** The loss of one digit, as a function of the parameters. */
function lossOfOne(params, image, label) {
  const scores = eg.func.functionalCall(model, params, [image.unsqueeze(0)]);
  return eg.crossEntropy(scores, label.unsqueeze(0));
}

const gradientsOfAll = eg.func.vmap(eg.func.gradAndValue(lossOfOne), { inDims: [null, 0, 0] });

/** The mean of gradients [batch, ...], each clipped to the norm `kLargestNorm`, plus noise. */
function blurred(gradients) {
  const each = Object.values(gradients).map((gradient) => gradient.flatten(1).square().sum(1));
  const norms = each.reduce((a, b) => a.add(b)).sqrt();
  const scale = norms.reciprocal().mul(kLargestNorm).clamp({ max: 1 });
  return Object.entries(gradients).map(([name, gradient]) => {
    const sum = eg.tensordot(scale, gradient, 1);
    const noise = eg.randnLike(sum).mul(kNoise * kLargestNorm);
    return [name, sum.add(noise).div(kBatch)];
  });
}

for (let step = 0; step < steps; step++) {
  eg.scope(() => {
    const [images, labels] = randomDigits(train, kBatch);
    const [gradients, losses] = gradientsOfAll(parameters, asImages(images), labels);
    eg.noGrad(() => {
      for (const [name, gradient] of blurred(gradients)) {
        parameters[name].sub_(gradient, { alpha: kRate });
      }
    });
    tell(step, steps, { loss: losses.mean().item() });
  });
}
await exportIfWanted("per_sample_gradients", model, [eg.randn([2, 1, 28, 28])]);
