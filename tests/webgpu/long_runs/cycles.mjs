// Starts the engine with its device, trains, and shuts it down, many times.

import * as eg from "edgegrad";
import { preferSoftwareAdapter } from "../support/software_adapter.mjs";
import { sampled } from "./sampling.mjs";
import { makeTraining } from "./training.mjs";

preferSoftwareAdapter();
const problems = [];
await sampled(
  Number(process.argv[2]),
  async (i) => {
    if (i > 0) await eg.shutdown();
    await eg.init({ webgpu: "required" });
    const step = makeTraining();
    for (let k = 0; k < 2; k++) {
      const loss = await step();
      if (!Number.isFinite(loss)) problems.push(`the loss in cycle ${i} is ${loss}`);
    }
  },
  () => problems,
);
