// Plain training for a long time: new batches every step, nothing disposed of by hand, a pause for the event loop now
// and then. (jax-js's ownership rules leave nothing to dispose of, but also nothing to forget.)

import { nextTask } from "../clock.mjs";
import { mnistBatches, startingMlp } from "../data.mjs";

const kMega = 1e6;
const resident = () => process.memoryUsage().rss / kMega;

export default {
  name: "memory",
  title: "Memory of plain training, MLP 784-32-10, batch 16",
  contenders: ["edgegrad", "tfjs", "jax"],
  repeats: 1,
  limit: 60,
  newestNodeOnly: true,

  rows: () => [
    { id: "steps", title: "steps made", digits: 0 },
    { id: "early", title: "resident after 1,000 steps", unit: "MB" },
    { id: "late", title: "resident at the end", unit: "MB" },
    { id: "growth", title: "growth per 1,000 steps", unit: "MB", better: "lower", target: 1 },
    { id: "tensors", title: "tensors at 1,000 / the end", digits: 0 },
    { id: "bytes", title: "tensor memory at 1,000 / the end", unit: "MB" },
  ],

  async measure(library, { quick }, report) {
    const batches = mnistBatches(50, 16);
    const plain = library.plainStep({
      model: "mlp",
      layers: startingMlp([784, 32, 10]),
      optimizer: { name: "sgd", rate: 0.05 },
    });
    const early = {};
    const last = quick ? 3000 : 20_000;
    const seconds = quick ? 5 : 20;
    const start = performance.now();
    let step = 0;
    while (step < last) {
      const loss = plain.step(batches[step % batches.length]);
      ++step;
      if (step % 10 === 0) await plain.read(loss);
      if (step % 10 === 0) await nextTask();
      if (step === 1000) Object.assign(early, plain.memory(), { resident: resident() });
      if (step > 1500 && performance.now() - start > seconds * 1000) break;
    }
    const late = { ...plain.memory(), resident: resident() };
    report("steps", step);
    report("early", early.resident);
    report("late", late.resident);
    report("growth", (late.resident - early.resident) / ((step - 1000) / 1000));
    if (late.tensors === undefined) return;
    report("tensors", [early.tensors, late.tensors]);
    report("bytes", [early.bytes / kMega, late.bytes / kMega]);
  },
};
