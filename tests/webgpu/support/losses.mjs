// Trains on a device that is lost again and again, at random points; prints what happened.

import * as eg from "edgegrad";
import { gpu } from "./own_gpu.mjs";

const [count] = process.argv.slice(2).map(Number);
const counts = { lost: 0, other: [], opened: 0, steps: 0 };

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
    if (counts.steps % 2) loss.backward();
    else await loss.backwardAsync();
    optimizer.step();
    return Promise.allSettled([loss.itemAsync(), x.data(), model.parameters()[0].mul(2).data()]);
  };
}

function note(error) {
  if (error.code === "DeviceLost") counts.lost++;
  else counts.other.push(`${error.code}: ${error.message}`);
}

await eg.init({ webgpu: "required", gpu });
for (let i = 0; i < count; i++) {
  const before = counts.lost;
  try {
    const step = makeTraining();
    const { device } = gpu;
    const kill = () => device.destroy();
    if (Math.random() < 0.3) queueMicrotask(kill);
    else setTimeout(kill, 30 * Math.random());
    while (counts.lost === before) {
      for (const { reason } of await step()) if (reason) note(reason);
      counts.steps++;
    }
  } catch (error) {
    note(error);
  }
  // At once: whoever has been told of the loss must not be served by the lost device.
  await eg.init();
  const found = await eg.tensor([1, i], { device: "webgpu" }).add(1).array();
  if (found[0] === 2 && found[1] === i + 1) counts.opened++;
}
console.log(JSON.stringify({ ...counts, lost: counts.lost >= count }));
