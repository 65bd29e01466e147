// Trains for many steps: neither memory nor caches grow.

import * as eg from "edgegrad";
import { preferSoftwareAdapter } from "../support/software_adapter.mjs";
import { sampled } from "./sampling.mjs";
import { makeTraining } from "./training.mjs";

preferSoftwareAdapter();
await eg.init({ webgpu: "required" });
const step = makeTraining();
const problems = [];
await sampled(
  Number(process.argv[2]),
  async (i) => {
    const loss = await step();
    if (!Number.isFinite(loss)) problems.push(`the loss of step ${i} is ${loss}`);
  },
  () => problems,
);
