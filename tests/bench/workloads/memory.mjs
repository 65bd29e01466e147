// Plain training for a long time: new batches every step, nothing disposed of manually, and a pause for the event loop
// now and then. (With jax-js's ownership rules there is nothing to dispose of, but also nothing that can be forgotten.)

import { nextTask } from "../clock.mjs";
import { startingMlp } from "../data.mjs";
import { mnistBatches } from "../mnist.mjs";

const kMega = 1e6;
const kWindow = 500; // steps

export default {
  name: "memory",
  title: "Memory of plain training, MLP 784-32-10, batch 16",
  contenders: ["edgegrad", "tfjs", "jax"],
  repeats: 1,
  limit: 60,
  newestNodeOnly: true,

  rows: () => [
    { id: "steps", title: "steps made", digits: 0 },
    { id: "early", title: "peak resident, second quarter", unit: "MB" },
    { id: "late", title: "peak resident, last quarter", unit: "MB" },
    { id: "growth", title: "growth per 1,000 steps", unit: "MB", better: "lower", target: 1 },
    { id: "tensors", title: "tensors at 1,000 / the end", digits: 0 },
    { id: "bytes", title: "tensor memory at 1,000 / the end", unit: "MB" },
  ],

  async measure(library, { quick, isPeer }, report) {
    const batches = mnistBatches(50, 16);
    const plain = library.plainStep({
      model: "mlp",
      layers: startingMlp([784, 32, 10]),
      optimizer: { name: "sgd", rate: 0.05 },
    });
    const last = quick ? 3000 : 20_000;
    const seconds = isPeer || quick ? 6 : 45; // enough for all steps, or at least to detect growing memory
    const start = performance.now();
    const peaks = []; // one per kWindow steps, because memory grows between collections in every library
    let early = null;
    let step = 0;
    while (step < last) {
      const loss = plain.step(batches[step % batches.length]);
      const window = Math.floor(step / kWindow);
      ++step;
      if (step % 10) continue;
      await plain.read(loss);
      await nextTask();
      peaks[window] = Math.max(peaks[window] ?? 0, process.memoryUsage.rss() / kMega);
      if (step === 1000) early = plain.memory();
      if (step > 1500 && step % kWindow === 0 && performance.now() - start > seconds * 1000) break;
    }
    const late = plain.memory();
    // In the first quarter the JavaScript heap is still growing to its steady size.
    const quarter = Math.floor(peaks.length / 4);
    const peakEarly = Math.max(...peaks.slice(quarter, 2 * quarter));
    const peakLate = Math.max(...peaks.slice(-quarter));
    report("steps", step);
    report("early", peakEarly);
    report("late", peakLate);
    report("growth", (peakLate - peakEarly) / (step / 2 / 1000));
    if (late.tensors === undefined) return;
    report("tensors", [early.tensors, late.tensors]);
    report("bytes", [early.bytes / kMega, late.bytes / kMega]);
  },
};
