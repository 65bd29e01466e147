// A page as it is put into production: it trains a network, and has a worker train.

import * as eg from "edgegrad";

const finish = (result) => {
  document.body.textContent = JSON.stringify(result);
};

function trainHere() {
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

async function trainInWorker() {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const weights = eg.ones([4], { requiresGrad: true });
  const [where] = await Promise.all([
    eg.spawn(worker, "train", weights, 10),
    eg.spawn(worker, "train", weights, 10),
  ]);
  const error = await eg.spawn(worker, "fail").catch(({ name, message }) => `${name}: ${message}`);
  worker.terminate();
  const ended = await eg.spawn(worker, "train", weights, 1).catch(({ code }) => code);
  return { where, weights: weights.arraySync(), error, ended };
}

async function run() {
  await eg.init({ threads: 2 });
  const losses = trainHere();
  return { losses, ...(await trainInWorker()), runtime: eg.runtime() };
}

run().then(finish, (error) => finish({ failed: `${error.code}: ${error.stack}` }));
