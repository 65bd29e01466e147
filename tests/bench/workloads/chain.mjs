// Repeats y = y * c on 4 elements, which measures only the cost of recording an op and of running its node in backward.

import { nextTask } from "../clock.mjs";

const lengths = (quick) => (quick ? [500, 20_000] : [500, 20_000, 1_000_000]);
const count = (n) => n.toLocaleString("en-US");

export default {
  name: "chain",
  title: "Chain of multiplications of 4 elements, ns per op",
  contenders: ["edgegrad", "edgegradCaptured", "tfjs", "jax", "jaxCompiled"],
  repeats: 1,
  limit: 20,

  rows: ({ quick }) =>
    lengths(quick).flatMap((n) => [
      { id: `record ${n}`, title: `recorded op from JS, ${count(n)}`, ...kPerOp, target: 600 },
      { id: `backward ${n}`, title: `backward node, ${count(n)}`, ...kPerOp, target: 300 },
      { id: `both ${n}`, title: `both, ${count(n)}`, ...kPerOp },
      { id: `compile ${n}`, title: `compiling it first, ${count(n)}`, unit: "ms" },
    ]),

  async measure(library, { quick, compiled }, report) {
    const measureOne = compiled ? measureCompiled : measureEager;
    const seconds = quick ? 2 : 5; // for repeating one length; a chain that would take twice as long is skipped
    let perOp = 0; // ms, of the previous chain
    // A first run compiles the JavaScript itself, which would otherwise distort the first result.
    if (compiled) await library.compiledChain(200);
    for (const n of lengths(quick)) {
      const expected = (perOp * n) / 1000;
      if (expected > 2 * seconds) {
        report.error(`both ${n}`, `not run, ~${Math.round(expected)} s`);
        continue;
      }
      try {
        perOp = await measureOne(library, n, seconds, report);
      } catch (error) {
        report.error(`both ${n}`, error.message);
        break;
      }
    }
  },
};

const kPerOp = { unit: "ns", better: "lower" };

async function measureEager(library, n, seconds, report) {
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

async function measureCompiled(library, n, seconds, report) {
  const first = performance.now();
  const run = await library.compiledChain(n);
  const start = performance.now();
  report(`compile ${n}`, start - first);
  let best = Number.POSITIVE_INFINITY;
  for (let count = 0; count < 300 && performance.now() - start < seconds * 1000; ++count) {
    const begin = performance.now();
    await run();
    best = Math.min(best, (performance.now() - begin) / n);
    await nextTask();
  }
  report(`both ${n}`, best * 1e6);
  return (start - first) / n;
}
