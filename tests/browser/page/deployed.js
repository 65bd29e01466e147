// A page in production form: it trains a network and, if there are threads, lets a worker train.

import * as eg from "edgegrad";
import { train } from "./train.js";

const finish = (result) => {
  document.body.textContent = JSON.stringify(result);
};

async function trainInWorker() {
  const worker = new Worker(new URL("./deployed_worker.js", import.meta.url), { type: "module" });
  const weights = eg.ones([4], { requiresGrad: true });
  const steps = [10, 10];
  const where = await Promise.all(steps.map((count) => eg.spawn(worker, "train", weights, count)));
  const error = await eg.spawn(worker, "fail").catch(({ name, message }) => `${name}: ${message}`);
  worker.terminate();
  const ended = await eg.spawn(worker, "train", weights, 1).catch(({ code }) => code);
  return { where, weights: weights.arraySync(), error, ended };
}

async function run() {
  await eg.init({ threads: 2 });
  const runtime = eg.runtime();
  const inWorker = runtime.threads > 1 ? await trainInWorker() : null;
  return { losses: train(), inWorker, runtime };
}

run().then(finish, (error) => finish({ error: `${error.code}: ${error.stack}` }));
