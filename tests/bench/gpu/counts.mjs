// The calls that counter.mjs counts, and querying the threads for their counts.

import { setTimeout } from "node:timers/promises";

export const kChannel = "calls of WebGPU";

/** The methods whose calls are summed in each figure. */
export const kCounted = {
  submits: { type: "GPUQueue", methods: ["submit"] },
  dispatches: {
    type: "GPUComputePassEncoder",
    methods: ["dispatchWorkgroups", "dispatchWorkgroupsIndirect"],
  },
  buffers: { type: "GPUDevice", methods: ["createBuffer"] },
  bindGroups: { type: "GPUDevice", methods: ["createBindGroup"] },
  pipelines: {
    type: "GPUDevice",
    methods: ["createComputePipeline", "createComputePipelineAsync"],
  },
  readbacks: { type: "GPUBuffer", methods: ["mapAsync"] },
};

/** The NODE_OPTIONS of a process whose calls are counted. */
export const kCounterOptions = `--import=${new URL("counter.mjs", import.meta.url)}`;

/** A thread that is waiting for work answers within this many ms; one that is waiting for a lock has not made any calls. */
const kPatience = 200;

/** Resolves to the number of calls of each kind so far, of all threads together. */
export async function countedSoFar() {
  const total = Object.fromEntries(Object.keys(kCounted).map((id) => [id, 0]));
  const channel = new BroadcastChannel(kChannel);
  channel.onmessage = ({ data }) => {
    for (const id in total) total[id] += data[id] ?? 0;
  };
  channel.postMessage("how many?");
  await setTimeout(kPatience);
  channel.close();
  return total;
}
