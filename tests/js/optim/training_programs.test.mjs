// Programs ported from PyTorch. They must have PyTorch's losses at every step and its final parameters, and leave the random
// generator in the same state. tests/programs contains each program twice, in JavaScript and in Python; `python3
// tests/programs/write_curves.py` wrote tests/golden/programs.json.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, test } from "node:test";
import { assertClose } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { kRoot, readJson } from "../support/files.mjs";

const kFolder = `${kRoot}tests/programs/`;
const { torch, ...kCurves } = readJson("tests/golden/programs.json");
const kTolerances = { float32: 1e-4, float64: 1e-10 };
// The first steps have smaller tolerances, because rounding errors have not accumulated yet.
const kEarly = 5;
const kEarlyTolerances = { float32: 1e-5, float64: 1e-11 };
// A loss that changes its sign is a difference of numbers near one, which have been rounded.
const kRoundings = { float32: 2 ** -24, float64: 2 ** -53 };
// PyTorch computes in float64, but with a float32 constant: 1/6 in the gradient of hardsigmoid.
const kRough = { Hardsigmoid: 1e-8 };

const programs = {};
for (const file of readdirSync(kFolder).filter((name) => name.endsWith(".mjs"))) {
  const topic = file.replace(".mjs", "");
  programs[topic] = (await import(`../../programs/${file}`)).programs;
}

test(`there is a curve of PyTorch ${torch} for every program`, () => {
  const names = (all) => Object.entries(all).map(([topic, each]) => [topic, Object.keys(each)]);
  assert.deepEqual(names(programs).sort(), names(kCurves).sort());
});

/** Returns three numbers for all parameters concatenated: the sum, the sum of absolute values, and a sum weighted by index. */
function digestOf(params) {
  const flat = eg.cat(params.map((p) => p.detach().to("float64").flatten()));
  const places = eg.arange(flat.numel, { dtype: "float64" });
  return [flat.sum(), flat.abs().sum(), flat.mul(places.cos()).sum()].map((sum) => sum.item());
}

async function follows(program, dtype, { losses, digest, drawnAfter }, rough) {
  eg.manualSeed(7);
  const actual = [];
  const record = (loss) => {
    actual.push(typeof loss === "number" ? loss : loss.item());
  };
  const params = await program(record, dtype);
  const rtol = Math.max(kTolerances[dtype], rough);
  const early = Math.max(kEarlyTolerances[dtype], rough);
  const what = `loss in ${dtype}`;
  const first = { rtol: early, atol: kRoundings[dtype], what };
  assertClose(actual.slice(0, kEarly), losses.slice(0, kEarly), first);
  assertClose(actual, losses, { rtol, atol: 0, what });
  const size = { rtol: 0, atol: rtol * digest[1], what: `sums of parameters in ${dtype}` };
  assertClose(digestOf(params), digest, size);
  assertClose(eg.rand([2]).dataSync(), drawnAfter, { rtol: 0, atol: 0, what: "next draws" });
  return Math.max(
    ...actual.map((loss, i) => Math.abs(loss - losses[i]) / Math.abs(losses[i] || 1)),
  );
}

for (const [topic, each] of Object.entries(programs)) {
  describe(topic, () => {
    for (const [name, program] of Object.entries(each)) {
      test(name, async (t) => {
        const curves = kCurves[topic][name];
        const deviations = [];
        for (const dtype of Object.keys(kTolerances)) {
          const rough = dtype === "float64" ? (kRough[name] ?? 0) : 0;
          const run = () => follows(program, dtype, curves[dtype], rough);
          deviations.push(`${dtype} ${(await eg.scope(run)).toExponential(1)}`);
        }
        t.diagnostic(`largest deviation: ${deviations.join(", ")}`);
      });
    }
  });
}
