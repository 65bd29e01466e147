// Bring a model in: a ResNet from an ONNX file learns digits that it has never seen. The file is your own (--file, with an open batch
// size), or one that finetune_onnx.py has made with PyTorch, which has only seen 0 to 4; where there is no PyTorch, edgegrad trains and
// exports one.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import * as eg from "edgegrad";
import { inspect, load, save } from "edgegrad/onnx";
import { asPictures, loadDigits, randomDigits } from "./support/digits.mjs";
import { exportIfWanted } from "./support/onnx.mjs";
import { ResNet } from "./support/resnet.mjs";
import { kSteps, stepsOf, tell } from "./support/steps.mjs";

function fileOfPyTorch(steps) {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-finetune-"));
  const file = join(folder, "resnet.onnx");
  const args = [join(import.meta.dirname, "finetune_onnx.py"), "--out", file, "--steps", steps];
  try {
    const made = ["python3", "/usr/bin/python3"].some((one) => spawnSync(one, args).status === 0);
    return made ? readFileSync(file) : null;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function fileOfEdgegrad(steps) {
  const model = new ResNet(3, 5);
  const inputs = [eg.zeros([1, 3, 32, 32])];
  const optimizer = new eg.optim.AdamW(model.parameters(), { lr: 3e-3 });
  for (let step = 0; step < steps; step++) {
    eg.scope(() => {
      const [images, labels] = randomDigits(train, 128);
      const known = labels.lt(5);
      const scores = model.call(asPictures(images.at(known), inputs[0].shape));
      optimizer.zeroGrad();
      eg.crossEntropy(scores, labels.at(known)).backward();
      optimizer.step();
    });
  }
  return save(model, { inputs, dynamicAxes: { input: [0] } });
}

const options = { ...kSteps, file: { type: "string" } };
const { file, steps: wanted } = parseArgs({ options }).values;
const steps = stepsOf(wanted, 60);
await eg.init();
eg.manualSeed(0);
const { train, test } = loadDigits();

const ofPyTorch = file === undefined ? fileOfPyTorch(steps) : null;
const bytes = file ? readFileSync(file) : (ofPyTorch ?? (await fileOfEdgegrad(steps)));
const model = await load(bytes);
console.log(
  `The file comes from ${file ?? (ofPyTorch ? "PyTorch" : "edgegrad")} (${model.producer})`,
);

// The last layer gets ten outputs; its name follows from the graph.
const last = (await inspect(bytes)).nodes.findLast(({ op }) => op === "Gemm");
const [, weight, bias] = last.inputs;
const owner = model.getSubmodule(weight.split(".").slice(0, -1).join("."));
const head = new eg.nn.Linear(model.getParameter(weight).shape.at(-1), 10);
for (const [name, value] of [
  [weight, head.weight],
  [bias, head.bias],
])
  owner[name.split(".").at(-1)] = value;

const isNew = (one) => one === head.weight || one === head.bias;
const optimizer = new eg.optim.AdamW([
  { params: model.parameters().filter((one) => !isNew(one)), lr: 3e-4 },
  { params: [head.weight, head.bias], lr: 3e-3 },
]);
const shape = model.inputs[0].shape;
model.train();
for (let step = 0; step < steps; step++) {
  eg.scope(() => {
    const [images, labels] = randomDigits(train, 64);
    const loss = eg.crossEntropy(model.call(asPictures(images, shape)), labels);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    tell(step, steps, { loss: loss.item() });
  });
}

model.eval();
const [images, labels] = randomDigits(test, 500);
const guesses = eg.noGrad(() => model.call(asPictures(images, shape)).argmax(1));
console.log(`${guesses.eq(labels).sum().item()} of 500 test digits are classified correctly`);
await exportIfWanted("finetune_onnx", model, [asPictures(images.narrow(0, 0, 2), shape)]);
