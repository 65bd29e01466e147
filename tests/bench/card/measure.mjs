// Measures the rows of one contender.

import { kContenders } from "./contenders.mjs";

/**
 * The modules of the libraries, each of which is loaded only when it is measured. A library has a method for each kind of row that it can
 * run, which returns {op, end}, and repeat(op, times), which calls an op and waits for the device.
 */
const kLibraries = {
  plain: () => import("./plain.mjs"),
  edgegrad: () => import("./edgegrad.mjs"),
  jax: () => import("./jax.mjs"),
  tfjs: () => import("./tfjs.mjs"),
};

/** Milliseconds of a block of calls, after which the device is awaited, and blocks of a row, of which the best counts. */
const kLengths = {
  full: { block: 200, rounds: 4 },
  small: { block: 300, rounds: 3 },
  tiny: { block: 5, rounds: 1 },
};

/** Steps before training is timed: until then, shaders are compiled and commands recorded. */
const kWarmUp = 4;

/** A block has at most this many calls. */
const kMostCalls = 4096;

/** Resolves to the library of a contender, on the WebGPU device. */
export async function loadContender(name) {
  const { library, options = {} } = kContenders[name];
  return (await kLibraries[library]()).load(options);
}

/**
 * Measures all rows that the contender can run, and reports {id, value} with the rate in the row's unit (GFLOPS, GB/s, steps/s) or {id,
 * error}, as soon as each is known.
 */
export async function measureContender(name, rows, size, report) {
  const { kinds } = kContenders[name];
  const library = await loadContender(name);
  const wanted = rows.filter(({ kind }) => kinds?.includes(kind) ?? true);
  for (const row of wanted) {
    if (library[row.kind] === undefined) continue;
    try {
      report({ id: row.id, value: await rateOf(library, row, kLengths[size]) });
    } catch (error) {
      report({ id: row.id, error: String(error?.message ?? error).split("\n")[0] });
    }
  }
}

async function rateOf(library, { kind, given, work, unit }, { block, rounds }) {
  const run = kind === "training" ? trainingRun(library, given) : opRun(library, kind, given);
  try {
    await run(kind === "training" ? kWarmUp : 1); // compiles
    let [times, ms] = [1, await timeOf(run, 1)];
    while (ms < block / 2 && times < kMostCalls) {
      times = Math.min(kMostCalls, Math.ceil(times * Math.min(8, (1.2 * block) / ms)));
      ms = await timeOf(run, times);
    }
    for (let round = 1; round < rounds; ++round) ms = Math.min(ms, await timeOf(run, times));
    const perSecond = (work * times * 1000) / ms;
    return unit === "steps/s" ? perSecond : perSecond / 1e9;
  } finally {
    await run.end?.();
  }
}

async function timeOf(run, times) {
  const start = performance.now();
  await run(times);
  return performance.now() - start;
}

function opRun(library, kind, given) {
  const { op, end } = library[kind](given);
  const run = (times) => library.repeat(op, times);
  return Object.assign(run, { end });
}

function trainingRun(library, { task, batches }) {
  const { step, loss } = library.training({ ...task, layers: task.layers() }, batches());
  let at = 0;
  return async (times) => {
    for (let i = 0; i < times; ++i) step(at++);
    if (!Number.isFinite(await loss())) throw new Error("the loss is no number");
  };
}
