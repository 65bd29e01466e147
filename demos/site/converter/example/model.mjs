// The file to try the page with: a small residual network that has learned to tell 0, 1, 2, 3 and 4 apart, and has never seen the other
// digits, so that there is something left to teach it.

import * as eg from "edgegrad";
import { save } from "edgegrad/onnx";
import { loadDigits } from "../../../mnist/data.mjs";

const kKnown = 5;
const kSteps = 150;
const kBatch = 64;
const { BatchNorm2d, Conv2d, Linear, Module, Sequential } = eg.nn;

class Block extends Module {
  constructor(from, to, stride) {
    super();
    this.conv1 = new Conv2d(from, to, 3, { stride, padding: 1, bias: false });
    this.bn1 = new BatchNorm2d(to);
    this.conv2 = new Conv2d(to, to, 3, { padding: 1, bias: false });
    this.bn2 = new BatchNorm2d(to);
    this.downsample = new Sequential(
      new Conv2d(from, to, 1, { stride, bias: false }),
      new BatchNorm2d(to),
    );
  }

  forward(x) {
    const inner = this.bn1.call(this.conv1.call(x)).relu();
    return this.bn2.call(this.conv2.call(inner)).add(this.downsample.call(x)).relu();
  }
}

class Network extends Module {
  layer1 = new Block(1, 12, 2);
  layer2 = new Block(12, 24, 2);
  layer3 = new Block(24, 48, 2);
  fc = new Linear(48, kKnown);

  forward(pictures) {
    const features = this.layer3.call(this.layer2.call(this.layer1.call(pictures)));
    return this.fc.call(features.mean([2, 3]));
  }
}

/** Trains the network, for a few seconds, and returns it as an ONNX file. */
export async function exampleModel() {
  await eg.init();
  eg.manualSeed(0);
  const { train } = loadDigits();
  const all = train.tensors[1].tolist();
  const known = all.flatMap((label, i) => (label < kKnown ? [i] : []));
  const model = new Network();
  const optimizer = new eg.optim.AdamW(model.parameters(), { lr: 3e-3 });
  for (let step = 0; step < kSteps; step++) {
    eg.scope(() => {
      const chosen = eg.randint(0, known.length, [kBatch]).tolist();
      const [images, labels] = train.getBatch(chosen.map((i) => known[i]));
      const loss = eg.crossEntropy(model.call(asInput(images)), labels.long());
      optimizer.zeroGrad();
      loss.backward();
      optimizer.step();
    });
  }
  return save(model, {
    inputs: [eg.zeros([1, 1, 28, 28])],
    inputNames: ["pictures"],
    outputNames: ["scores"],
    dynamicAxes: { pictures: { 0: "batch" } },
    metadata: { description: "Scores of the digits 0 to 4, for pictures from 0 to 1" },
  });
}

function asInput(images) {
  return images.float().div(255).reshape([-1, 1, 28, 28]);
}
