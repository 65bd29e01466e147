// Trains without end, and counts its steps.

import * as eg from "edgegrad";

globalThis.steps = 0;
globalThis.losses = [];
await eg.init({ threads: 2 });
const x = eg.randn([64, 16]);
const y = x.sum(1, true);
const model = new eg.nn.Sequential(
  new eg.nn.Linear(16, 32),
  new eg.nn.ReLU(),
  new eg.nn.Linear(32, 1),
);
const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.01 });
for (;;) {
  await eg.scope(async () => {
    const loss = eg.nn.functional.mseLoss(model.call(x), y);
    optimizer.zeroGrad();
    await loss.backwardAsync();
    optimizer.step();
    losses.push(await loss.itemAsync());
  });
  steps++;
  await new Promise((resolve) => setTimeout(resolve, 0)); // timer: the end of a task
}
