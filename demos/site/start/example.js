import * as eg from "edgegrad";

await eg.init();
const { variant, threads } = eg.runtime();
console.log(`threads: ${threads}, variant: ${variant}`);
eg.manualSeed(0);

// Two arms of a spiral, 100 points each.
const t = eg.linspace(0.05, 0.95, 100);
const angle = t.mul(3.5 * Math.PI);
const arm = eg.stack([angle.sin().mul(t), angle.cos().mul(t)], 1);
const x = eg.cat([arm, arm.neg()]);
const y = eg.cat([eg.ones([100, 1]), eg.zeros([100, 1])]);

const { Linear, Sequential, Tanh } = eg.nn;
const hidden = (inputs) => [new Linear(inputs, 32), new Tanh()];
const layers = [...hidden(2), ...hidden(32), new Linear(32, 1)];
const model = new Sequential(...layers);
const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.01 });

for (let step = 1; step <= 2000; step++) {
  const loss = eg.scope(() => {
    const loss = eg.binaryCrossEntropyWithLogits(model.call(x), y);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    return loss.item();
  });
  plot(step, loss);
  if (step % 500 === 0) console.log(step, loss.toFixed(5));
  if (step % 8 === 0) await paint(model, x, y);
}
console.log(model);
