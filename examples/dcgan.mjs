// A DCGAN: a generator learns to draw digits that a discriminator cannot distinguish from real ones.

import * as eg from "edgegrad";
import { asImages, drawn, loadDigits, randomDigits } from "./support/digits.mjs";
import { exportIfWanted } from "./support/onnx.mjs";
import { stepsWanted, tell } from "./support/steps.mjs";

const kNoise = 32;
const kBatch = 32;
const { BatchNorm2d, Conv2d, ConvTranspose2d, Flatten, LeakyReLU, Linear, ReLU } = eg.nn;
const { Sequential, Tanh, Unflatten } = eg.nn;

const steps = stepsWanted(600);
await eg.init();
eg.manualSeed(0);
const { train } = loadDigits();

const kStride = { stride: 2, padding: 1 };
const generator = new Sequential(
  new Linear(kNoise, 64 * 7 * 7),
  new Unflatten(1, [64, 7, 7]),
  new BatchNorm2d(64),
  new ReLU(),
  new ConvTranspose2d(64, 32, 4, kStride),
  new BatchNorm2d(32),
  new ReLU(),
  new ConvTranspose2d(32, 1, 4, kStride),
  new Tanh(),
);
const discriminator = new Sequential(
  new Conv2d(1, 32, 4, kStride),
  new LeakyReLU(0.2),
  new Conv2d(32, 64, 4, kStride),
  new BatchNorm2d(64),
  new LeakyReLU(0.2),
  new Flatten(),
  new Linear(64 * 7 * 7, 1),
);

// As in the paper: small initial weights, and a low beta1.
for (const model of [generator, discriminator]) {
  for (const weight of model.parameters()) {
    if (weight.ndim > 1) eg.nn.init.normal_(weight, { std: 0.02 });
  }
}
const [ofGenerator, ofDiscriminator] = [generator, discriminator].map(
  (model) => new eg.optim.Adam(model.parameters(), { lr: 2e-4, betas: [0.5, 0.999] }),
);

const judged = (images, verdict) => {
  const scores = discriminator.call(images);
  return eg.binaryCrossEntropyWithLogits(scores, eg.fullLike(scores, verdict));
};

function update(optimizer, loss) {
  optimizer.zeroGrad();
  loss.backward();
  optimizer.step();
  return loss.item();
}

for (let step = 0; step < steps; step++) {
  eg.scope(() => {
    const real = asImages(randomDigits(train, kBatch)[0], -1, 1);
    const made = generator.call(eg.randn([kBatch, kNoise]));
    const critic = update(ofDiscriminator, judged(real, 1).add(judged(made.detach(), 0)));
    const artist = update(ofGenerator, judged(made, 1));
    tell(step, steps, { discriminator: critic, generator: artist });
  });
}

generator.eval();
const made = eg.noGrad(() => generator.call(eg.randn([4, kNoise])));
console.log(drawn(made.add(1).div(2)));
await exportIfWanted("dcgan_generator", generator, [eg.randn([4, kNoise])]);
await exportIfWanted("dcgan_discriminator", discriminator, [made]);
