// LoRA: a network that has learned the digits 0 to 4 learns 5 to 9 through low-rank matrices that are added to its frozen
// weights. Less than a tenth of the parameters is trained, and only these need to be stored.

import * as eg from "edgegrad";
import { asImages, loadDigits } from "./support/digits.mjs";
import { exportIfWanted } from "./support/onnx.mjs";
import { stepsWanted, tell } from "./support/steps.mjs";

const { Linear, Module, Parameter, ReLU, Sequential } = eg.nn;

/** A linear layer with a frozen weight W, to which a trained low-rank product B A is added. */
class LoraLinear extends Module {
  constructor(inner, { rank = 4, alpha = 8 } = {}) {
    super();
    const [outFeatures, inFeatures] = inner.weight.shape;
    this.inner = inner.requiresGrad_(false);
    this.a = new Parameter(eg.randn([rank, inFeatures]).mul(0.02));
    // With B at zero, the network initially computes the same as before.
    this.b = new Parameter(eg.zeros([outFeatures, rank]));
    this.scale = alpha / rank;
  }

  forward(x) {
    const low = eg.linear(eg.linear(x, this.a), this.b);
    return this.inner.call(x).add(low.mul(this.scale));
  }
}

const steps = stepsWanted(400);
await eg.init();
eg.manualSeed(0);
const { train, test } = loadDigits();

/** The digits from `low` to `high` in a set. */
function between([images, labels], low, high) {
  const places = labels.ge(low).logicalAnd(labels.le(high)).nonzero().flatten();
  const chosen = labels.indexSelect(0, places).to("int64").sub(low);
  return [asImages(images.indexSelect(0, places)).flatten(1), chosen];
}

function learn(model, [images, labels], name) {
  const learned = [...model.parameters()].filter(({ requiresGrad }) => requiresGrad);
  const optimizer = new eg.optim.Adam(learned, { lr: 2e-3 });
  const count = learned.reduce((sum, { numel }) => sum + numel, 0);
  console.log(`${name}: ${count} parameters to train`);
  for (let step = 0; step < steps; step++) {
    eg.scope(() => {
      const rows = eg.randint(0, labels.numel, [64]);
      const scores = model.call(images.indexSelect(0, rows));
      const loss = eg.crossEntropy(scores, labels.indexSelect(0, rows));
      optimizer.zeroGrad();
      loss.backward();
      optimizer.step();
      tell(step, steps, { loss: loss.item() });
    });
  }
}

function accuracy(model, [images, labels]) {
  const guesses = eg.noGrad(() => model.call(images).argmax(1));
  return guesses.eq(labels).to("float32").mean().item();
}

const sets = { train: train.tensors, test: test.tensors };
const old = { train: between(sets.train, 0, 4), test: between(sets.test, 0, 4) };
const other = { train: between(sets.train, 5, 9), test: between(sets.test, 5, 9) };

const layers = [new Linear(784, 128), new Linear(128, 64), new Linear(64, 5)];
const model = new Sequential(layers[0], new ReLU(), layers[1], new ReLU(), layers[2]);
learn(model, old.train, "digits 0 to 4");
const [first, second, last] = layers.map((layer) => new LoraLinear(layer));
const adapted = new Sequential(first, new ReLU(), second, new ReLU(), last);
learn(adapted, other.train, "digits 5 to 9 with LoRA");

const percent = (share) => `${(100 * share).toFixed(1)} %`;
console.log(
  `accuracy on 5 to 9: ${percent(accuracy(model, other.test))} before, ${percent(accuracy(adapted, other.test))} with LoRA`,
);
console.log(`accuracy on 0 to 4 without LoRA: still ${percent(accuracy(model, old.test))}`);
await exportIfWanted("lora", adapted, [other.test[0].narrow(0, 0, 2)]);
