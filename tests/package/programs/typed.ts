// The same program in TypeScript, which must infer all types.

import * as eg from "edgegrad";

const { Linear, Sequential, Tanh } = eg.nn;

function train(): number[] {
  eg.manualSeed(0);
  const x: eg.Tensor = eg.randn([64, 10]);
  const y: eg.Tensor = eg.randint(0, 3, [64]);
  const model: eg.nn.Sequential = new Sequential(new Linear(10, 32), new Tanh(), new Linear(32, 3));
  const optimizer: eg.optim.Adam = new eg.optim.Adam(model.parameters(), { lr: 1e-2 });
  return Array.from({ length: 50 }, () => {
    const loss = eg.crossEntropy(model.call(x), y);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    return loss.item();
  });
}

// @ts-expect-error: there is no such option
const unknown: eg.InitOptions = { thread: 2 };
const code: eg.ErrorCode = "ShapeMismatch";

await eg.init({ threads: 2 });
console.log(JSON.stringify({ losses: train(), unknown, code }));
