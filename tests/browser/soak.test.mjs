// A page that trains on WebGPU for many steps, with random shapes and reads at random points. `EG_SOAK_STEPS=5000 EG_SOAK_SEED=1
// npm test -- browser/soak` takes more of them; then neither memory nor buffers nor pipelines may grow in the second half.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { kWebGpu, noBrowser } from "./support/chromium.mjs";
import { kIsolation } from "./support/project.mjs";
import { complaintsOf, lateGrowth, soak } from "./support/soak.mjs";
import { useProject } from "./support/suite.mjs";

const steps = Number(process.env.EG_SOAK_STEPS ?? 100);
const seed = Number(process.env.EG_SOAK_SEED ?? 3);
// With fewer steps than this, some shapes occur for the first time in the second half.
const kLongRun = 2000;

describe("a page with WebGPU", { skip: noBrowser }, () => {
  const suite = useProject(kWebGpu);

  test(`holds nothing more after ${steps} steps of random shapes, and no console says a word`, async (t) => {
    const server = await suite.serve(suite.project.folder, kIsolation);
    const tell = (line) => t.diagnostic(line);
    const result = await soak(suite.browser, server, { steps, seed }, tell);
    assert.deepEqual(complaintsOf(result), []);
    if (steps >= kLongRun) assert.deepEqual(lateGrowth(result), []);
  });
});
