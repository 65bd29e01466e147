// Runs the demo from start to finish.

import * as eg from "edgegrad";
import { loadDigits } from "../mnist/data.mjs";
import { accuracy, makeModel } from "../mnist/model.mjs";
import { makeBarrier } from "./barrier.mjs";

const kWorker = new URL("./worker.mjs", import.meta.url);
const kWarmUpSteps = 20;

/** Runs the demo and returns the exit status. */
export async function run({ workers, steps, batch }) {
  // One engine thread, so that each op runs on the worker that calls it. The workers wait for each other in every step, so each
  // call needs its own worker.
  await eg.init({ threads: 1, spawnWorkers: workers });
  const { train, test } = loadDigits();
  eg.manualSeed(0);
  const order = eg.randperm(train.length);
  await fit(workers, kWarmUpSteps, batch, order); // starts the workers and loads their digits
  const alone = await fit(1, steps, batch, order, test);
  const together = await fit(workers, steps, batch, order, test);
  const speedUp = alone.seconds / together.seconds;
  const apart = Math.max(...alone.losses.map((loss, i) => Math.abs(loss - together.losses[i])));
  console.log(`${speedUp.toFixed(2)}x as fast with ${workers} workers`);
  console.log(
    `largest difference between the losses of a step: ${apart.toExponential(1)} (from another order of summation)`,
  );
  return 0;
}

// Trains a new model, always from the same weights. If there is a test set, prints speed and accuracy.
async function fit(workers, steps, batch, order, test = null) {
  eg.manualSeed(0);
  const model = makeModel("mlp");
  const weights = model.stateDict();
  const shared = {
    weights,
    order,
    // The gradients of each worker, which all workers can read.
    gradients: Array.from({ length: workers }, () =>
      Object.values(weights).map((weight) => eg.zerosLike(weight)),
    ),
    barrier: makeBarrier(workers),
  };
  const start = performance.now();
  const shares = await Promise.all(
    Array.from({ length: workers }, (_, index) =>
      eg.spawn(kWorker, "train", shared, { index, steps, batch }),
    ),
  );
  const seconds = (performance.now() - start) / 1000;
  // The shares have the same size, so the loss of the batch is the mean of their losses.
  const losses = shares[0].map((_, step) => mean(shares.map((share) => share[step])));
  if (test !== null) {
    const rate = Math.round((steps * batch) / seconds);
    const percent = (100 * (await accuracy(model, test))).toFixed(2);
    const last = losses.at(-1).toFixed(4);
    console.log(
      `${workers} worker(s): ${rate} samples/s, last loss ${last}, test accuracy ${percent} %`,
    );
  }
  return { seconds, losses };
}

function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
