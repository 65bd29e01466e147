// The products A B, A B^T and A^T B, which occur in the forward and backward pass of a linear layer: of square matrices,
// and of the shapes in a narrow transformer.

import { buildProbe, ceilingsIn, mergeCeilings, runProbe } from "../ceiling.mjs";
import { bestTime } from "../clock.mjs";
import { randomNumbers } from "../data.mjs";

const kLayouts = ["NN", "NT", "TN"];
const kTooLong = 2500; // ms; products that take longer are skipped

const square = (n) => ({ name: `${n}`, m: n, k: n, n });
const kNarrow = [192, 256].map((n) => ({ name: `512x64x${n}`, m: 512, k: 64, n }));

const shapes = (quick) => [
  ...(quick ? [128, 512, 1024] : [128, 256, 512, 1024, 2048]).map(square),
  ...kNarrow,
];
const rowId = (layout, { name }) => `${layout} ${name}`;
const operations = ({ m, k, n }) => 2 * m * k * n;

export default {
  name: "gemm",
  title: "Matrix product, float32, GFLOPS",
  contenders: ["edgegrad", "edgegrad2", "kernel", "tfjs", "jax"],
  repeats: 2,
  limit: 60,

  rows: ({ quick }) =>
    kLayouts.flatMap((layout) =>
      shapes(quick).map((shape) => ({
        id: rowId(layout, shape),
        shape,
        unit: "GFLOPS",
        better: "higher",
      })),
    ),

  // Rounds over all cases, and the best of each: a temporary disturbance spoils some rounds of every case.
  async measure(library, { quick }, report) {
    const cases = [];
    for (const shape of shapes(quick)) {
      const { m, k, n } = shape;
      const [a, b] = [randomNumbers(m * k, 1), randomNumbers(k * n, 2)];
      for (const layout of kLayouts)
        cases.push({ layout, shape, a, b, best: Number.POSITIVE_INFINITY });
    }
    for (const one of cases) await prepare(library, one, cases, report);
    for (let round = 0; round < (quick ? 3 : 5); ++round) {
      for (const one of cases) {
        const isLong = one.best > 300;
        if (!one.run || (isLong && round > 0)) continue;
        one.best = Math.min(one.best, await bestTime(one.run, isLong ? 0 : 15));
      }
    }
    for (const { run, layout, shape, best } of cases) {
      if (run) report(rowId(layout, shape), operations(shape) / best / 1e6);
    }
  },

  /** Probes the ceilings before and after every round, because disturbances of the machine are temporary. */
  async probe(node, context, round) {
    const probe = await buildProbe(context.variant);
    const lines = await runProbe(node, probe);
    if (round === 0) {
      for (const { n } of shapes(context.quick).filter(
        (shape) => isSquare(shape) && shape.n <= 1024,
      )) {
        lines.push(...(await runProbe(node, probe, { n, rounds: context.quick ? 2 : 5 })));
      }
    }
    context.ceilings = mergeCeilings(context.ceilings, ceilingsIn(lines));
    const values = lines
      .filter(({ bench }) => bench === "gemm")
      .map(({ layout, n, gflops }) => [rowId(layout, square(n)), gflops]);
    return { contender: "kernel", values: Object.fromEntries(values), data: { lines } };
  },

  checks(rows, results, { ceilings, variant }) {
    const valuesOf = (id) => results.find(({ contender }) => contender === id)?.values ?? {};
    const [one, two] = [valuesOf("edgegrad"), valuesOf("edgegrad2")];
    if (!ceilings) return [];
    const [ceiling] = variant === "relaxed" ? ceilings.fused : ceilings.mulAdd;
    return rows.flatMap(({ id, shape }) => {
      const isLong = shape.n >= kLong;
      const least = isSquare(shape) ? kOfCeiling : kOfCeilingIfNarrow;
      const checks = [];
      if (one[id]) {
        const part = one[id] / ceiling;
        const text = `${Math.round(100 * part)} % of ceiling`;
        checks.push({ row: id, text, passed: part >= least || (isSquare(shape) && !isLong) });
      }
      if (one[id] && two[id]) {
        const gain = two[id] / one[id];
        if (isSquare(shape) && isLong)
          checks.push({ row: id, text: "2t 1.8x", passed: gain >= 1.8 });
        else checks.push({ row: id, text: "2t no slower", passed: gain >= 0.95 });
      }
      return checks;
    });
  },
};

const isSquare = ({ m, k, n }) => m === k && k === n;

// From this size on, a square product must reach its share of the ceiling and benefit from a second thread; a smaller one
// only must not become slower with it.
const kLong = 256;
const kOfCeiling = 0.95;
const kOfCeilingIfNarrow = 0.85;

/** Creates the inputs and warms up, unless a smaller case shows that this one would take too long. */
async function prepare(library, one, cases, report) {
  const { layout, shape, a, b } = one;
  const before = cases[cases.indexOf(one) - kLayouts.length];
  const expected = before ? (before.best * operations(shape)) / operations(before.shape) : 0;
  if (expected > kTooLong) {
    one.best = expected;
    report.error(rowId(layout, shape), `not run, ~${Math.round(expected / 1000)} s`);
    return;
  }
  one.run = library.product(layout, shape, a, b);
  await one.run();
  one.best = await bestTime(one.run, expected < 300 ? 40 : 0); // lets the engine reach its optimizing tier
}
