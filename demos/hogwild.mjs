// Hogwild: several workers train one model in shared memory, without locks (Niu et al., 2011).
// `node demos/hogwild.mjs [workers]` trains a digit classifier with one worker, then with two (or the
// given number), for the same total number of steps, and prints the speed-up.

import * as eg from "edgegrad";
import { loadDigits } from "./mnist/data.mjs";
import { accuracy, makeModel } from "./mnist/model.mjs";

const kSteps = 1600;
const kWorker = new URL("./hogwild/worker.mjs", import.meta.url);

const many = Number(process.argv[2] ?? 2);
if (!Number.isInteger(many) || many < 1) {
  console.error("usage: node demos/hogwild.mjs [workers]");
  process.exit(2);
}

// One engine thread, so that each op runs on the worker that calls it.
await eg.init({ threads: 1, spawnWorkers: many });
const { test } = loadDigits();
await train(many, many); // starts the workers, loads the digits and warms the code up
const alone = await train(1, kSteps);
const together = await train(many, kSteps);
console.log(`${(alone / together).toFixed(2)}x as fast with ${many} workers`);

/** Trains a new model for a total of `steps` steps, prints accuracy and speed, and returns the seconds. */
async function train(workers, steps) {
  eg.manualSeed(0);
  const model = makeModel("mlp");
  const share = Math.ceil(steps / workers);
  const start = performance.now();
  await Promise.all(
    Array.from({ length: workers }, (_, index) =>
      eg.spawn(kWorker, "train", model.stateDict(), { steps: share, seed: index }),
    ),
  );
  const seconds = (performance.now() - start) / 1000;
  if (steps === kSteps) {
    const percent = (100 * (await accuracy(model, test))).toFixed(2);
    const rate = Math.round((share * workers) / seconds);
    console.log(`${workers} worker(s): ${rate} steps/s, test accuracy ${percent} %`);
  }
  return seconds;
}
