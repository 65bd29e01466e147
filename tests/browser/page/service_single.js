// A service worker that trains.

import * as eg from "edgegrad/single";

async function train() {
  await eg.init();
  const x = eg.randn([64, 10]);
  const y = eg.randint(0, 3, [64]);
  const model = new eg.nn.Linear(10, 3);
  const optimizer = new eg.optim.SGD(model.parameters(), { lr: 0.1 });
  const losses = [];
  for (let step = 0; step < 10; step++) {
    await eg.scope(async () => {
      const loss = eg.crossEntropy(model.call(x), y);
      optimizer.zeroGrad();
      await loss.backwardAsync();
      optimizer.step();
      losses.push(loss.item());
    });
  }
  return { variant: eg.runtime().variant, trained: losses.at(-1) < losses[0] };
}

self.onmessage = (event) => {
  const answer = (result) => event.source.postMessage(result);
  const failed = ({ code, message }) => answer({ error: `${code}: ${message}` });
  event.waitUntil(train().then(answer, failed));
};
