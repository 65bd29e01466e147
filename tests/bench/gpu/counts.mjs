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

/** The bytes that are summed in each figure: of each method, those of a call with these arguments, on `self`. */
export const kCountedBytes = {
  bytesUp: [
    { type: "GPUQueue", method: "writeBuffer", bytes: (_, given) => writtenBytes(...given) },
    {
      type: "GPUDevice",
      method: "createBuffer",
      bytes: (_, [{ size, mappedAtCreation }]) => (mappedAtCreation ? size : 0),
    },
    {
      type: "GPUBuffer",
      method: "mapAsync",
      bytes: (self, given) => mappedBytes(self, kWrite, given),
    },
  ],
  bytesDown: [
    {
      type: "GPUBuffer",
      method: "mapAsync",
      bytes: (self, given) => mappedBytes(self, kRead, given),
    },
  ],
};

const [kRead, kWrite] = [1, 2]; // GPUMapMode

function writtenBytes(_buffer, _offset, data, from = 0, count = undefined) {
  const unit = data.BYTES_PER_ELEMENT ?? 1;
  return count === undefined ? data.byteLength - from * unit : count * unit;
}

function mappedBytes(buffer, wanted, [mode, offset = 0, size = buffer.size - offset]) {
  return mode === wanted ? size : 0;
}

/** The names of all figures. */
export const kFigures = [...Object.keys(kCounted), ...Object.keys(kCountedBytes)];

/** The NODE_OPTIONS of a process whose calls are counted. */
export const kCounterOptions = `--import=${new URL("counter.mjs", import.meta.url)}`;

/** A thread that is waiting for work answers within this many ms; one that is waiting for a lock has not made any calls. */
const kPatience = 200;

/** Resolves to every figure so far, of all threads together. */
export async function countedSoFar() {
  const total = Object.fromEntries(kFigures.map((id) => [id, 0]));
  const channel = new BroadcastChannel(kChannel);
  channel.onmessage = ({ data }) => {
    for (const id in total) total[id] += data[id] ?? 0;
  };
  channel.postMessage("how many?");
  await setTimeout(kPatience);
  channel.close();
  return total;
}
