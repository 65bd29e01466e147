// A variational autoencoder: it encodes digits as normal distributions of 8 latent variables, and decodes samples of these to
// digits. Afterwards it decodes random numbers to new digits.

import * as eg from "edgegrad";
import { asImages, drawn, loadDigits, randomDigits } from "./support/digits.mjs";
import { exportIfWanted } from "./support/onnx.mjs";
import { stepsWanted, tell } from "./support/steps.mjs";

const kLatent = 8;
const { Linear, Module, ReLU, Sequential } = eg.nn;

class Vae extends Module {
  encoder = new Sequential(new Linear(784, 256), new ReLU(), new Linear(256, 2 * kLatent));
  decoder = new Sequential(new Linear(kLatent, 256), new ReLU(), new Linear(256, 784));

  forward(images) {
    const [mean, logVariance] = this.encoder.call(images.flatten(1)).chunk(2, 1);
    const latent = mean.add(logVariance.mul(0.5).exp().mul(eg.randnLike(mean)));
    return { scores: this.decoder.call(latent), mean, logVariance };
  }
}

const steps = stepsWanted(1500);
await eg.init();
eg.manualSeed(0);
const { train } = loadDigits();
const model = new Vae();
const optimizer = new eg.optim.Adam(model.parameters(), { lr: 1e-3 });

for (let step = 0; step < steps; step++) {
  eg.scope(() => {
    const images = asImages(randomDigits(train, 64)[0]);
    const { scores, mean, logVariance } = model.call(images);
    const target = images.flatten(1);
    const pixels = eg.binaryCrossEntropyWithLogits(scores, target, { reduction: "sum" });
    const spread = mean.square().add(logVariance.exp()).sub(logVariance).sub(1).sum().mul(0.5);
    const loss = pixels.add(spread).div(images.shape[0]);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    tell(step, steps, { loss: loss.item(), spread: spread.item() / images.shape[0] });
  });
}

const made = eg.noGrad(() => model.decoder.call(eg.randn([4, kLatent])).sigmoid());
console.log(drawn(made.reshape([4, 1, 28, 28])));
await exportIfWanted("vae_encoder", model.encoder, [eg.rand([2, 784])]);
await exportIfWanted("vae_decoder", model.decoder, [eg.randn([2, kLatent])]);
