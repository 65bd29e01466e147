// The process in which cases run. It is started by driver.mjs, which is notified of every finding immediately and can
// read from a file which case is running.

import { openSync, writeSync } from "node:fs";
import * as eg from "edgegrad";
import { Runner } from "./cases.mjs";
import { Canaries, Problem } from "./oracle.mjs";
import { shrink, signatureOf } from "./shrink.mjs";

const job = JSON.parse(process.argv[2]);
const kCasesPerTask = 50;
const kRunsOfLeak = 3;
const until = job.until ?? Infinity;

// Programs cause many warnings, which are not findings.
console.warn = () => {};
process.on("unhandledRejection", (error) => {
  const problem = new Problem("unhandled rejection", String(error?.stack ?? error));
  die(findingOf(current, "", { problem, lines: [] }));
});

const progress = openSync(job.progress, "w");
const trace = job.trace === undefined ? null : openSync(job.trace, "w");
const onLine = trace === null ? undefined : (text) => writeSync(trace, `${JSON.stringify(text)}\n`);

await eg.init({ variant: job.variant, threads: 2 });
const canaries = new Canaries(eg);
const faults =
  job.faults === undefined ? null : (await import(job.faults)).makeFaults(eg, canaries);
const runner = new Runner(eg, canaries, { onLine, faults });
const seen = new Set();
let calls = 0;
let current = 0;
let runs = 0;

await (job.lines === undefined ? runCases() : runLines());
await send({ done: true, calls });
process.exit(0);

async function runCases() {
  for (let number = job.from; number < (job.to ?? Infinity) && Date.now() < until; number++) {
    current = number;
    showProgress();
    const { kind, program } = await runner.runCase(job.seed, number, job.only);
    calls += program.calls;
    if (program.problem !== null) await report(number, kind, program);
    // Yield to the event loop, so that finalizers and messages are processed.
    if (number % kCasesPerTask === 0) await new Promise(setImmediate);
  }
}

async function runLines() {
  showProgress();
  const program = await runner.runLines(job.kind, job.lines, job.number);
  if (program.problem !== null) await send(findingOf(job.number, job.kind, program));
}

// Writes the number of the case and a counter that shows progress, because shrinking runs many programs.
function showProgress() {
  writeSync(progress, `${current} ${runs++}`.padEnd(32), 0);
}

async function report(number, kind, program) {
  const finding = findingOf(number, kind, program);
  if (program.problem.isFatal) await die(finding);
  const isLeak = finding.kind === "leak";
  const signature = signatureOf(finding);
  if (seen.has(signature)) return send({ again: signature });
  const failsAlike = async (lines) => {
    const { problem } = await again(kind, lines, number);
    return problem && signatureOf(findingOf(number, kind, { problem, lines })) === signature;
  };
  const stillFails = isLeak ? (lines) => growsEveryTime(kind, lines, number) : failsAlike;
  if (isLeak && !(await stillFails(finding.lines))) return undefined;
  const lines = await shrink(finding.lines, stillFails);
  const small = { ...finding, lines, line: isLeak ? lastLine(lines) : finding.line };
  seen.add(signatureOf(small));
  return send({ ...small, signature: signatureOf(small) });
}

// Memory that is allocated once and cached is not a leak, nor is the garbage of the last program, which may be collected
// only after the next one.
async function growsEveryTime(kind, lines, number) {
  for (let run = 0; run < kRunsOfLeak; run++) {
    const { problem } = await again(kind, lines, number);
    if (problem?.kind !== "leak") return false;
  }
  return true;
}

async function die(finding) {
  await send({ ...finding, isFatal: true, calls });
  process.exit(3);
}

function lastLine(lines) {
  return lines.findLast(({ text }) => text !== "undefined")?.text ?? "";
}

async function again(kind, lines, number) {
  showProgress();
  const program = await runner.runLines(kind, lines, number);
  if (program.problem?.isFatal) await die(findingOf(number, kind, program));
  return program;
}

function findingOf(number, kind, { problem, lines }) {
  const line = problem.line ?? lastLine(lines);
  return {
    case: number,
    caseKind: kind,
    kind: problem.kind,
    message: problem.message,
    line,
    lines,
  };
}

function send(message) {
  return new Promise((resolve) => process.send(message, resolve));
}
