// The expected results of training programs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const golden = new URL("../../golden/training.json", import.meta.url);
const kLosses = JSON.parse(readFileSync(golden, "utf8")).programs["mlp-adam"];

// deployed_worker.js takes 20 steps, each of which multiplies every weight by 1 - 0.1 * 2.
const kWeight = 0.8 ** 20;

/** Asserts that the losses of page/train.js are PyTorch's. */
export function assertLosses(losses) {
  assert.equal(losses.length, kLosses.length);
  losses.forEach((loss, step) => {
    const difference = Math.abs(loss - kLosses[step]);
    assert.ok(difference <= 1e-4 * kLosses[step], `loss ${loss} at step ${step}`);
  });
}

/** Asserts that page/deployed_worker.js took 20 steps with these weights. */
export function assertWeights(weights) {
  for (const weight of weights) assert.ok(Math.abs(weight - kWeight) < 1e-6, `weight ${weight}`);
}
