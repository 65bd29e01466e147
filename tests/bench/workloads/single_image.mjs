// Adam on single images. Its moments decay to denormal numbers as training proceeds, which slows down a processor's
// arithmetic, so rates are only comparable over the same steps.

import { mnistBatches } from "../mnist.mjs";
import { kDeepMlp, startTraining } from "./training.mjs";

const kEvery = 100; // steps between points of the curve
const kLossAt = 60;

export default {
  name: "mlp-adam-1",
  title: "MLP 784-512-256-10, Adam, batch 1, up to 3,000 steps",
  contenders: ["edgegrad", "tfjs", "jax"],
  repeats: 1,
  limit: 60,
  rows: () => [
    { id: "early", title: "steps/s, steps 100 to 400", better: "higher", target: 600 },
    { id: "same", title: "steps/s, last 300 of the slowest", better: "higher", target: 600 },
    { id: "late", title: "steps/s, last 300 of its own", better: "higher", target: 600 },
    { id: "steps", title: "steps made", digits: 0 },
    { id: "loss", title: `loss after ${kLossAt} steps`, digits: 5 },
  ],

  async measure(library, { quick }, report) {
    const task = { ...kDeepMlp, batches: () => mnistBatches(2000, 1) };
    const trainer = startTraining(library, task);
    const seconds = quick ? 3 : 12;
    const curve = [0]; // time in ms after 0, kEvery, 2 kEvery ... steps
    const start = performance.now();
    for (let i = 0; i < (quick ? 1000 : 3000); ++i) {
      trainer.step(i);
      if (i + 1 === kLossAt) report("loss", await trainer.loss());
      if ((i + 1) % 10 === 0) await trainer.loss();
      if ((i + 1) % kEvery) continue;
      curve.push(performance.now() - start);
      if (curve.length > 5 && curve.at(-1) > seconds * 1000) break;
    }
    report.data("curve", curve);
  },

  /** Computes rates over the same steps, up to the number that the slowest contender reached. */
  finish(results) {
    const withCurve = results.filter(({ data }) => data.curve);
    const shortest = Math.min(...withCurve.map(({ data }) => data.curve.length - 1));
    for (const { data, values } of withCurve) {
      const last = data.curve.length - 1;
      values.early = rate(data.curve, 1, 4);
      values.same = rate(data.curve, shortest - 3, shortest);
      values.late = rate(data.curve, last - 3, last);
      values.steps = last * kEvery;
    }
  },
};

function rate(curve, from, to) {
  return ((to - from) * kEvery * 1000) / (curve[to] - curve[from]);
}
