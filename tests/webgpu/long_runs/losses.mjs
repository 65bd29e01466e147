// Trains on a device that is lost again and again, at random points: everything that was asked for is answered, with DeviceLost at
// the worst, and init() opens another one.

import * as eg from "edgegrad";
import { gpu } from "../support/own_gpu.mjs";
import { sampled } from "./sampling.mjs";

const problems = [];
let lost = 0;
let steps = 0;

function makeTraining() {
  const model = new eg.nn.Sequential(
    new eg.nn.Linear(4, 8),
    new eg.nn.ReLU(),
    new eg.nn.Linear(8, 2),
  );
  model.to("webgpu");
  const optimizer = new eg.optim.Adam(model.parameters());
  const x = eg.rand([5, 4], { device: "webgpu" });
  return async () => {
    const loss = eg.crossEntropy(
      model.call(x),
      eg.tensor([0n, 1n, 0n, 1n, 0n], { device: "webgpu" }),
    );
    optimizer.zeroGrad();
    if (steps % 2) loss.backward();
    else await loss.backwardAsync();
    optimizer.step();
    return Promise.allSettled([loss.itemAsync(), x.data(), model.parameters()[0].mul(2).data()]);
  };
}

function note(error) {
  if (error.code === "DeviceLost") lost++;
  else problems.push(`${error.code}: ${error.message}`);
}

async function loseDevice(i) {
  const before = lost;
  try {
    const step = makeTraining();
    const { device } = gpu;
    const kill = () => device.destroy();
    if (Math.random() < 0.3) queueMicrotask(kill);
    else setTimeout(kill, 30 * Math.random()); // timer: any moment of the training will do
    while (lost === before) {
      for (const { reason } of await step()) if (reason) note(reason);
      steps++;
    }
  } catch (error) {
    note(error);
  }
  // At once: whoever has been told of the loss must not be served by the lost device.
  await eg.init();
  const found = await eg.tensor([1, i], { device: "webgpu" }).add(1).array();
  if (found[0] !== 2 || found[1] !== i + 1) problems.push(`the next device computed ${found}`);
}

await eg.init({ webgpu: "required", gpu });
await sampled(Number(process.argv[2]), loseDevice, () => problems);
