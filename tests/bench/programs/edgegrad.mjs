// The shortest program that trains: one SGD step of an MLP 784-128-10. Prints the time of day at its end.

import * as eg from "edgegrad";

await eg.init();
const model = new eg.nn.Sequential(
  new eg.nn.Linear(784, 128),
  new eg.nn.ReLU(),
  new eg.nn.Linear(128, 10),
);
const optimizer = new eg.optim.SGD(model.parameters(), { lr: 0.1 });
const x = eg.randn([64, 784]);
const y = eg.randint(0, 10, [64]);

optimizer.zeroGrad();
const loss = eg.crossEntropy(model.call(x), y);
loss.backward();
optimizer.step();
await loss.itemAsync();
console.log(performance.timeOrigin + performance.now());
