// The process that runs the sweep: this package in it, and PyTorch in a separate Python process. Calls are timed
// alternately, so that other activity on the machine affects both; the best of the rounds counts.

import * as eg from "edgegrad";
import { bestTime } from "../clock.mjs";
import { productSpeed } from "../torch/product_speed.mjs";
import { blasWarning, spawnServer } from "../torch/server.mjs";
import { sweepCases } from "./cases.mjs";
import { prepare } from "./ours.mjs";

const { only, quick } = JSON.parse(process.argv[2]);

/** A ratio above this is measured again, for longer, because another process may have caused it. */
const kDoubtful = 3;

/** The families whose ops run on BLAS and LAPACK in PyTorch. */
const kFamiliesOfBlas = ["Products", "Linear algebra"];
const firstLine = (error) => String(error?.message ?? error).split("\n")[0];

async function measured(case_, ask) {
  const theirs =
    case_.theirs === null
      ? { error: "no such function" }
      : await ask({ do: "prepare", case: case_ });
  let ours;
  try {
    ours = prepare(case_);
    ours.forward();
  } catch (error) {
    return { error: firstLine(error) };
  }
  const result = { theirError: theirs.error };
  const parts = theirs.isDifferentiable && ours.both ? ["forward", "both"] : ["forward"];
  for (const part of parts) result[part] = await pair(part, ours[part], theirs, ask);
  return result;
}

/** Resolves to the best time in ms of ours and of theirs. */
async function pair(part, run, theirs, ask) {
  const best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const round = async (ms) => {
    best[0] = Math.min(best[0], await bestTime(run, ms));
    if (!theirs.error) best[1] = Math.min(best[1], (await ask({ do: "timeOf", part, ms })).best);
  };
  for (let i = 0; i < (quick ? 1 : 3); ++i) await round(8);
  if (!theirs.error && best[0] > kDoubtful * best[1]) for (let i = 0; i < 3; ++i) await round(30);
  return { ours: best[0], theirs: theirs.error ? null : best[1] };
}

await eg.init({ threads: 1 });
eg.setWarningHandler?.(() => {});
const ask = spawnServer("sweep.py");
const { version, blas } = await ask({ do: "describe" });
const warning = blasWarning(blas, await productSpeed());
process.send({
  detail: { torch: version, blas: blas.library, variant: eg.runtime().variant, warning },
});
for (const case_ of sweepCases()) {
  if (only && !only.some((name) => case_.title.includes(name) || case_.family === name)) continue;
  const result = await eg.scope(() => measured(case_, ask));
  const { family, title, size } = case_;
  const isUnfair = warning !== "" && kFamiliesOfBlas.includes(family);
  process.send({ family, title, size, ...result, ...(isUnfair && { isUnfair }) });
}
process.send({ isDone: true }, () => process.exit(0));
