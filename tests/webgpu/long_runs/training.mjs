// The training of the long runs.

import * as eg from "edgegrad";

/** Returns a model's step on the device, which resolves to the loss. */
export function makeTraining() {
  const model = new eg.nn.Sequential(
    new eg.nn.Linear(16, 32),
    new eg.nn.ReLU(),
    new eg.nn.Linear(32, 4),
  ).to("webgpu");
  const optimizer = new eg.optim.Adam(model.parameters());
  const labels = eg.randint(0, 4, [8], { device: "webgpu" });
  return async () => {
    const loss = eg.scope(() => {
      optimizer.zeroGrad();
      const x = eg.randn([8, 16], { device: "webgpu" });
      const loss = eg.crossEntropy(model.call(x), labels);
      loss.backward();
      optimizer.step();
      return loss.detach();
    });
    try {
      return await loss.itemAsync();
    } finally {
      loss.dispose();
    }
  };
}
