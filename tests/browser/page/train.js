// The program "mlp-adam" of tests/golden/training.json: returns the losses of its steps.

import * as eg from "edgegrad";

export function train() {
  eg.manualSeed(0);
  const x = eg.randn([64, 10]);
  const y = eg.randint(0, 3, [64]);
  const { Linear, Sequential, Tanh } = eg.nn;
  const model = new Sequential(new Linear(10, 32), new Tanh(), new Linear(32, 3));
  const optimizer = new eg.optim.Adam(model.parameters(), { lr: 1e-2 });
  const losses = [];
  for (let step = 0; step < 50; step++) {
    const loss = eg.crossEntropy(model.call(x), y);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    losses.push(loss.item());
  }
  return losses;
}
