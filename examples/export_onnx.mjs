// Take a model out: a network that reads digits is trained here and written as an ONNX file, which onnxruntime runs without edgegrad.

import * as eg from "edgegrad";
import { save } from "edgegrad/onnx";
import { asImages, loadDigits, randomDigits } from "./support/digits.mjs";
import { exportIfWanted, runInOnnxRuntime } from "./support/onnx.mjs";
import { stepsWanted, tell } from "./support/steps.mjs";

const { BatchNorm2d, Conv2d, Dropout, Flatten, Linear, MaxPool2d, ReLU, Sequential } = eg.nn;

const steps = stepsWanted(300);
await eg.init();
eg.manualSeed(0);
const { train, test } = loadDigits();

const model = new Sequential(
  new Conv2d(1, 16, 5, { stride: 2, padding: 2 }),
  new BatchNorm2d(16),
  new ReLU(),
  new MaxPool2d(2),
  new Flatten(),
  new Dropout(0.2),
  new Linear(16 * 7 * 7, 10),
);
const optimizer = new eg.optim.AdamW(model.parameters(), { lr: 3e-3 });
for (let step = 0; step < steps; step++) {
  eg.scope(() => {
    const [images, labels] = randomDigits(train, 64);
    const loss = eg.crossEntropy(model.call(asImages(images)), labels);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    tell(step, steps, { loss: loss.item() });
  });
}

// The size of the batch is left open, and the file has names that its users understand. Dropout is not in it: save() writes the
// model as it is used, not as it is trained.
const [images, labels] = randomDigits(test, 1000);
const digits = asImages(images);
const bytes = await save(model, {
  inputs: [digits.narrow(0, 0, 1)],
  inputNames: ["digits"],
  outputNames: ["scores"],
  dynamicAxes: { digits: { 0: "batch" } },
  metadata: { description: "Scores of the ten digits for images of 28 x 28 pixels" },
});

const scores = await runInOnnxRuntime(bytes, [digits]);
const right = scores.argmax(1).eq(labels).sum().item();
console.log(`onnxruntime reads ${right} of 1000 test digits from a file of ${bytes.length} bytes`);
await exportIfWanted("export_onnx", model, [digits.narrow(0, 0, 2)]);
