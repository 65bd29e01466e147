// node tests/webgpu/long_runs/run.mjs [losses] [cycles] [steps] [--scale 0.1]
//
// What must hold for hours on the WebGPU device, in minutes: the device is lost 100 times during training, the engine is started and
// shut down 1,000 times, and a model trains for 10,000 steps. Every run is a process of its own, which prints its memory as it goes.
// The exit status is 1 if a process ended otherwise than it should, or memory grew in the second half.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** The runs: how often, and how many bytes the process may grow by in the second half. */
const kRuns = {
  losses: { count: 100, growth: 50e6 },
  cycles: { count: 1000, growth: 50e6 },
  steps: { count: 10000, growth: 20e6 },
};
const kExact = ["tensors", "cpuBytes", "gpuBytes", "gpuBuffers"];
const kTimeout = 30 * 60_000;

/** Runs a program and returns what is wrong. */
function run(name, count) {
  const program = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
  const { status, signal, stdout } = spawnSync(
    process.execPath,
    ["--expose-gc", program, String(count)],
    { encoding: "utf8", timeout: kTimeout, stdio: ["ignore", "pipe", "inherit"] },
  );
  if (status !== 0) return [`${name}: ended with ${signal ?? status}`];
  const { samples, problems } = JSON.parse(stdout);
  console.log(`\n${name}, ${count} times`);
  console.table(samples);
  return [...problems, ...growthOf(samples, kRuns[name].growth)].map((text) => `${name}: ${text}`);
}

// The first half is for caches to fill.
function growthOf(samples, most) {
  const [middle, last] = [samples[Math.floor(samples.length / 2)], samples.at(-1)];
  const problems = kExact
    .filter((what) => last[what] > middle[what])
    .map((what) => `${what} grew from ${middle[what]} to ${last[what]}`);
  const growth = last.rss - middle.rss;
  if (growth > most) problems.push(`the process grew by ${Math.round(growth / 1e6)} MB`);
  return problems;
}

const { values, positionals } = parseArgs({
  options: { scale: { type: "string", default: "1" } },
  allowPositionals: true,
});
const names = positionals.length > 0 ? positionals : Object.keys(kRuns);
const problems = names.flatMap((name) =>
  run(name, Math.max(10, Math.round(kRuns[name].count * Number(values.scale)))),
);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log("\nNothing grew, and nothing was lost.");
