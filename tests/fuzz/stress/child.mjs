// The process in which programs of the stress fuzzer run; started by driver.mjs. It logs every line before running it,
// in case it dies without a report, and it must exit by itself.

import { openSync, writeSync } from "node:fs";
import * as eg from "edgegrad";
import { Problem } from "../oracle.mjs";
import { linesOf } from "./programs.mjs";
import { StressRunner } from "./runner.mjs";

const job = JSON.parse(process.argv[2]);
const progress = openSync(job.progress, "w");
const until = job.until ?? Infinity;
let current = { number: job.from, lines: [] };
let steps = 0;
let calls = 0;

console.warn = () => {};
for (const event of ["unhandledRejection", "uncaughtException"]) {
  process.on(event, (error) => {
    const text = String(error?.stack ?? error?.message ?? typeof error);
    die(new Problem(event === "unhandledRejection" ? "unhandled rejection" : "uncaught", text));
  });
}

if (job.device === "webgpu") {
  const { preferSoftwareAdapter } = await import("../../webgpu/support/software_adapter.mjs");
  preferSoftwareAdapter();
}
const options = {
  variant: job.variant,
  threads: 2,
  webgpu: job.device === "webgpu" ? "required" : "off",
};
await eg.init(options);
const runner = new StressRunner(eg, options, job.device);

for (let number = job.from; number < job.to && Date.now() < until; number++) {
  current = { number, lines: job.lines ?? linesOf(job.seed, number) };
  showProgress();
  const problem = await runner.run(current.lines, () => {
    calls++;
    showProgress();
  });
  // One finding per process, because later ones may be consequences of it.
  if (problem !== null) await die(problem);
}
if (current.number % 2 === 0) await eg.shutdown();
await send({ done: true, calls });
process.disconnect();

function showProgress() {
  writeSync(progress, `${current.number} ${steps++}`.padEnd(32), 0);
}

async function die({ kind, message, line }) {
  const { number, lines } = current;
  await send({ case: number, kind, message, line: line ?? "", lines, isFatal: true, calls });
  process.exit(3);
}

function send(message) {
  return new Promise((resolve) => process.send(message, resolve));
}
