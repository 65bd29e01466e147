// Usage: node tests/bench/gpu/profile.mjs [mlp|wide-mlp|wide-cnn|gpt|wide-gpt] [edgegrad|tfjs|jax] [steps]
//
// Shows where the time of a training step on WebGPU goes. Prints the time of the calls that record a step, of the whole
// step, and of every dispatch: how many, their total and best time, and the sizes of their buffers. Times are ms per
// step; dispatches are timed separately, so they take longer than in an unprofiled step.

import { spawnSync } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { alignColumns, formatNumber } from "../report/format.mjs";
import { startTraining } from "../workloads/training.mjs";
import { kWebgpuTasks } from "../workloads/webgpu.mjs";
import { kProfileChannel } from "./profile_channel.mjs";

const kLines = 30;
const kWarmUp = 3; // steps
const kPatience = 500; // ms for threads to receive the last times, and to answer

const [task = "mlp", name = "edgegrad", steps = "10"] = process.argv.slice(2);

/** Runs this script again with the profiler in every thread. */
function runProfiled() {
  const profiler = new URL("profiler.mjs", import.meta.url);
  const env = { ...process.env, NODE_OPTIONS: `--import=${profiler}` };
  const given = [fileURLToPath(import.meta.url), task, name, steps];
  process.exit(spawnSync(process.execPath, given, { env, stdio: "inherit" }).status ?? 1);
}

async function profile(count) {
  const library = await (await import(`../libraries/${name}.mjs`)).load({ device: "webgpu" });
  const trainer = startTraining(library, kWebgpuTasks[task]);
  const channel = new BroadcastChannel(kProfileChannel);
  const found = [];
  channel.onmessage = ({ data }) => {
    if (Array.isArray(data)) found.push(...data);
  };
  let calls = 0;
  let start = 0;
  for (let i = 0; i < kWarmUp + count; ++i) {
    if (i === kWarmUp) {
      await setTimeout(kPatience);
      channel.postMessage("forget");
      calls = 0;
      start = performance.now();
    }
    const before = performance.now();
    trainer.step(i);
    calls += performance.now() - before;
    await trainer.loss();
  }
  const whole = performance.now() - start;
  await setTimeout(kPatience);
  channel.postMessage("tell");
  await setTimeout(kPatience);
  print(found, count, { calls, whole });
}

function print(found, count, { calls, whole }) {
  const sum = found.reduce((total, [, { sum }]) => total + sum, 0);
  const perStep = (value) => formatNumber(value / count, 2);
  console.log(`calls ${perStep(calls)}, dispatches ${perStep(sum)}, step ${perStep(whole)} ms`);
  const lines = found
    .sort(([, a], [, b]) => b.sum - a.sum)
    .slice(0, kLines)
    .map(([what, { count: times, sum, best }]) => [
      what,
      perStep(times),
      perStep(sum),
      formatNumber(best, 2),
    ]);
  for (const line of alignColumns([["", "times", "ms", "best of one"], ...lines]))
    console.log(line);
}

if (process.env.NODE_OPTIONS?.includes("profiler.mjs")) {
  await profile(Number(steps));
  process.exit(0);
} else {
  runProfiled();
}
