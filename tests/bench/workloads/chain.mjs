// Repeats y = y * c on 4 elements, which measures only the cost of recording an op and of running its node in backward.

import { nextTask } from "../clock.mjs";

const lengths = (quick) => (quick ? [500, 20_000] : [500, 20_000, 1_000_000]);
const count = (n) => n.toLocaleString("en-US");

export default {
  name: "chain",
  title: "Chain of multiplications of 4 elements, ns per op",
  contenders: ["edgegrad", "tfjs", "jax"],
  repeats: 1,
  limit: 20,

  rows: ({ quick }) =>
    lengths(quick).flatMap((n) => [
      { id: `record ${n}`, title: `recorded op from JS, ${count(n)}`, ...kPerOp, target: 600 },
      { id: `backward ${n}`, title: `backward node, ${count(n)}`, ...kPerOp, target: 300 },
      { id: `both ${n}`, title: `both, ${count(n)}`, ...kPerOp },
    ]),

  async measure(library, { quick }, report) {
    const seconds = quick ? 2 : 5; // for repeating one length; a chain that would take twice as long is skipped
    let perOp = 0; // ms, of the previous chain
    for (const n of lengths(quick)) {
      const expected = (perOp * n) / 1000;
      if (expected > 2 * seconds) {
        report.error(`both ${n}`, `not run, ~${Math.round(expected)} s`);
        continue;
      }
      try {
        perOp = await measureLength(library, n, seconds, report);
      } catch (error) {
        report.error(`both ${n}`, error.message);
        break;
      }
    }
  },
};

const kPerOp = { unit: "ns", better: "lower" };

async function measureLength(library, n, seconds, report) {
  // The first runs let the engine compile; a long chain does so within a single run.
  const runs = n <= 500 ? 300 : n <= 20_000 ? 6 : 2;
  const best = { record: Number.POSITIVE_INFINITY, backward: Number.POSITIVE_INFINITY };
  const start = performance.now();
  for (let run = 0; run < runs && performance.now() - start < seconds * 1000; ++run) {
    const { start: first, recorded, end } = await library.chain(n);
    best.record = Math.min(best.record, (recorded - first) / n);
    best.backward = Math.min(best.backward, (end - recorded) / n);
    await nextTask();
  }
  report(`record ${n}`, best.record * 1e6);
  report(`backward ${n}`, best.backward * 1e6);
  report(`both ${n}`, (best.record + best.backward) * 1e6);
  return best.record + best.backward;
}
