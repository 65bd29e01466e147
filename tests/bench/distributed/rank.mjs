// One process of the benchmark: trains the CNN for some steps, alone or as a rank of a group, and writes a line of JSON.

import * as eg from "edgegrad";
import { barrier, DistributedDataParallel, initProcessGroup } from "edgegrad/distributed";
import { median } from "../clock.mjs";
import { startingCnn } from "../data.mjs";
import { mnistBatches } from "../mnist.mjs";
import { kModels } from "../models/edgegrad.mjs";

const kWarmUp = 20;
const kBlock = 10;

const { servers, run, worldSize, batch, blocks, threads } = JSON.parse(process.argv[2]);
await eg.init({ threads });
const layers = startingCnn({ channels: [8, 16], kernel: 5, padding: 0 });
const plain = kModels.cnn.start(layers);
const group = worldSize > 1 ? await initProcessGroup({ servers, run, worldSize }) : null;
const model = group ? new DistributedDataParallel(plain) : plain;
const optimizer = new eg.optim.Adam(model.parameters(), { lr: 1e-3 });
const batches = mnistBatches(8, batch).map((one) => kModels.cnn.inputs(one));

function step(i) {
  const { x, y } = batches[i % batches.length];
  eg.scope(() => {
    const loss = eg.crossEntropy(model.call(x), y);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
  });
}

for (let i = 0; i < kWarmUp; i++) step(i);
if (group) await barrier();
const before = group?.traffic;
const times = [];
for (let block = 0; block < blocks; block++) {
  const start = performance.now();
  for (let i = 0; i < kBlock; i++) step(i);
  times.push((performance.now() - start) / kBlock);
  // The worker's messages are read.
  await new Promise((resolve) => setImmediate(resolve));
}
const steps = blocks * kBlock;
const { bytesSent = 0, messagesSent = 0 } = group?.traffic ?? {};
console.log(
  JSON.stringify({
    ms: median(times),
    best: Math.min(...times),
    bytes: group ? (bytesSent - before.bytesSent) / steps : 0,
    messages: group ? (messagesSent - before.messagesSent) / steps : 0,
  }),
);
await group?.destroy();
