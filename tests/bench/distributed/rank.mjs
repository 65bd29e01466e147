// One process of the benchmark: trains the CNN for some steps, alone or as a rank of a group, and writes a line of JSON. With `isEmpty` a step
// only makes gradients of the same size, so that nothing but sending them takes time.

import * as eg from "edgegrad";
import { barrier, DistributedDataParallel, initProcessGroup } from "edgegrad/distributed";
import { median } from "../clock.mjs";
import { startingCnn } from "../data.mjs";
import { mnistBatches } from "../mnist.mjs";
import { kModels } from "../models/edgegrad.mjs";

const kWarmUp = 20;
const kBlock = 10;

const { servers, run, worldSize, batch, blocks, threads, isEmpty } = JSON.parse(process.argv[2]);
await eg.init({ threads });
const layers = startingCnn({ channels: [8, 16], kernel: 5, padding: 0 });
const cnn = kModels.cnn.start(layers);
const plain = isEmpty ? weightsAlone(cnn) : cnn;
const group = worldSize > 1 ? await initProcessGroup({ servers, run, worldSize }) : null;
const model = group ? new DistributedDataParallel(plain) : plain;
const optimizer = new eg.optim.Adam(model.parameters(), { lr: 1e-3 });
const batches = mnistBatches(8, batch).map((one) => kModels.cnn.inputs(one));

/** A module with as many weights as another one. */
function weightsAlone(module) {
  const count = module.parameters().reduce((sum, { numel }) => sum + numel, 0);
  const made = new eg.nn.Module();
  made.weight = new eg.nn.Parameter(eg.zeros([count]));
  made.forward = () => made.weight.sum();
  return made;
}

// How long this thread has waited for other ranks.
let waited = 0;
const wait = Atomics.wait;
Atomics.wait = (...given) => {
  const start = performance.now();
  const result = wait(...given);
  waited += performance.now() - start;
  return result;
};

function step(i) {
  const { x, y } = batches[i % batches.length];
  eg.scope(() => {
    const loss = isEmpty ? model.call() : eg.crossEntropy(model.call(x), y);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
  });
}

for (let i = 0; i < kWarmUp; i++) step(i);
if (group) await barrier();
const before = group?.traffic;
const cpuBefore = process.cpuUsage();
waited = 0;
const times = [];
for (let block = 0; block < blocks; block++) {
  const start = performance.now();
  for (let i = 0; i < kBlock; i++) step(i);
  times.push((performance.now() - start) / kBlock);
  // The worker's messages are read.
  await new Promise((resolve) => setImmediate(resolve));
}
const steps = blocks * kBlock;
const { user, system } = process.cpuUsage(cpuBefore);
const { bytesSent = 0, messagesSent = 0 } = group?.traffic ?? {};
console.log(
  JSON.stringify({
    ms: median(times),
    best: Math.min(...times),
    waited: waited / steps,
    // Of all threads: other programs do not change it much.
    cpu: (user + system) / 1000 / steps,
    bytes: group ? (bytesSent - before.bytesSent) / steps : 0,
    messages: group ? (messagesSent - before.messagesSent) / steps : 0,
  }),
);
await group?.destroy();
