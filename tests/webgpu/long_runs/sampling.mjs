// Memory of a long run, at ten points.

import * as eg from "edgegrad";
import { collectGarbage } from "../../js/support/collect_garbage.mjs";

/** Runs `step` with the numbers from 0 on, and prints ten samples of the memory, and `problems` afterwards, as JSON. */
export async function sampled(count, step, problems = () => []) {
  const samples = [];
  for (let i = 0; i < count; i++) {
    await step(i);
    if ((i + 1) % Math.ceil(count / 10) !== 0 && i + 1 !== count) continue;
    await collectGarbage();
    samples.push({ after: i + 1, ...memory() });
  }
  console.log(JSON.stringify({ samples, problems: problems() }));
}

function memory() {
  const rss = process.memoryUsage.rss();
  const { tensors, cpuBytes, gpuBytes, gpuBuffers } = eg.memory();
  const { pipelines, bindGroups, buffersCreated } = eg.webgpuStats() ?? {};
  return { rss, tensors, cpuBytes, gpuBytes, gpuBuffers, pipelines, bindGroups, buffersCreated };
}
