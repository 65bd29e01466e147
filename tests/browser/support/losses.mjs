// What a page that trains has to come to.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const golden = new URL("../../golden/training.json", import.meta.url);
const kLosses = JSON.parse(readFileSync(golden, "utf8")).programs["mlp-adam"];

/** Asserts that the losses of page/train.js are PyTorch's. */
export function assertLosses(losses) {
  assert.equal(losses.length, kLosses.length);
  losses.forEach((loss, step) => {
    const difference = Math.abs(loss - kLosses[step]);
    assert.ok(difference <= 1e-4 * kLosses[step], `loss ${loss} at step ${step}`);
  });
}
