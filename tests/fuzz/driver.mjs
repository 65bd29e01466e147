// Starts the processes in which cases run, detects when one dies or hangs, and collects findings.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { shrink, signatureOf } from "./shrink.mjs";

const kChild = fileURLToPath(new URL("child.mjs", import.meta.url));
const kPollSeconds = 0.25;

// A process that shows no progress for this long hangs, also on a busy machine, and also one that has yet to start.
const kMaxSeconds = 120;

// The number of cases per process: enough to detect accumulation, and memory is released between processes.
const kCasesPerChild = 40_000;

/**
 * Runs cases of a seed until `until` (a time in ms) or up to case `to`. Calls `onFinding` with each new finding, {
 * kind, message, lines, case, ... }. Resolves to { cases, calls, findings }.
 */
export async function fuzz({
  seed,
  variant,
  only,
  from = 0,
  to = Infinity,
  until = Infinity,
  faults,
  onFinding = () => {},
}) {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-fuzz-"));
  const base = { seed, variant, only, faults, progress: join(folder, "progress"), until };
  const found = new Map();
  let [next, calls] = [from, 0];
  try {
    while (next < to && Date.now() < until) {
      const job = { ...base, from: next, to: Math.min(to, next + kCasesPerChild) };
      const run = await runChild(job, (finding) => add(finding));
      calls += run.calls;
      if (run.isDone) {
        next = (run.last ?? next - 1) + 1;
        if (next < job.to) break;
        continue;
      }
      if (run.last === null) throw new Error(`the engine failed to start: ${run.reason.message}`);
      next = run.last + 1;
      const finding = run.fatal ?? (await diagnose(base, run));
      // Hangs are not shrunk, because each attempt takes until the timeout.
      const isSmall = finding.kind === "hang" || finding.lines.length === 0;
      await add(isSmall ? finding : await smaller(base, finding));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { cases: next - from, calls, findings: [...found.values()] };

  async function add(finding) {
    const signature = finding.signature ?? finding.again ?? signatureOf(finding);
    const known = found.get(signature);
    if (known !== undefined) known.count++;
    else {
      found.set(signature, { ...finding, signature, seed, variant, count: 1 });
      onFinding(found.get(signature));
    }
  }
}

/** Runs given lines in a separate process, which may go `maxSeconds` without progress; resolves to a finding or null. */
export async function runProgram({ variant, kind = "ops", lines, faults, maxSeconds }) {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-fuzz-"));
  const base = { variant, faults, maxSeconds, progress: join(folder, "progress") };
  try {
    return await findingOfLines(base, { caseKind: kind, lines, case: 0 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// Finds what a process that died without a report was doing: runs the case again and logs every line before it is run.
async function diagnose(base, { last, reason }) {
  const trace = `${base.progress}-trace`;
  const again = await runChild({ ...base, until: null, from: last, to: last + 1, trace });
  const lines = readFileSync(trace, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => ({ text: JSON.parse(line), mayChange: true }));
  const finding = {
    case: last,
    caseKind: "ops",
    kind: reason.kind,
    lines,
    line: lines.at(-1)?.text ?? "",
  };
  if (again.isDone) {
    return {
      ...finding,
      lines: [],
      line: "",
      message: `${reason.message}, but not when run alone`,
    };
  }
  return { ...finding, message: reason.message };
}

// Finds fewer lines that fail in the same way; each attempt runs in a new process.
async function smaller(base, finding) {
  const signature = signatureOf(finding);
  const stillFails = async (lines) => {
    const found = await findingOfLines(base, { ...finding, lines });
    return found !== null && signatureOf(found) === signature;
  };
  const lines = await shrink(finding.lines, stillFails, 12);
  return { ...finding, lines, signature };
}

async function findingOfLines(base, { lines, caseKind, case: number }) {
  let first = null;
  const job = { ...base, until: null, lines, kind: caseKind, number };
  const run = await runChild(job, (finding) => {
    first ??= finding;
  });
  if (first !== null || run.fatal !== null) return first ?? run.fatal;
  if (run.isDone) return null;
  return { ...run.reason, case: number, caseKind, lines, line: lines.at(-1)?.text ?? "" };
}

/**
 * Runs a child (`job.child`, by default child.mjs) until it exits. Resolves to { isDone, calls, last, fatal, reason }:
 * `last` is the last case it began, `fatal` the finding that ended it, and `reason` why it ended if it could not report
 * that itself.
 */
export function runChild(job, onFinding = () => {}) {
  const { maxSeconds = kMaxSeconds } = job;
  return new Promise((resolve) => {
    const script = job.child ?? kChild;
    const child = spawn(process.execPath, ["--expose-gc", script, JSON.stringify(job)], {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    const result = { isDone: false, calls: 0, last: job.from ?? 0, fatal: null, reason: null };
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      errors = (errors + text).slice(-2000);
    });
    child.on("message", (message) => {
      if (message.done) Object.assign(result, { isDone: true, calls: message.calls });
      else if (message.isFatal) Object.assign(result, { fatal: message, calls: message.calls });
      else onFinding(message);
    });
    const stopWatching = watch(job.progress, (seconds, isStarted) => {
      if (seconds < (isStarted ? maxSeconds : kMaxSeconds)) return;
      result.reason = { kind: "hang", message: `no progress for ${Math.round(seconds)} s` };
      child.kill("SIGKILL");
    });
    child.on("close", (code, signal) => {
      stopWatching();
      const last = readProgress(job.progress);
      result.last = last === null ? null : Number.parseInt(last, 10);
      const message = `the process exited with ${signal ?? code}: ${lastLine(errors)}`;
      if (!result.isDone || code !== 0) result.reason ??= { kind: "crash", message };
      resolve(result);
    });
  });
}

// Calls `onTick` with the seconds since the child last showed progress.
function watch(file, onTick) {
  let [known, since] = [readProgress(file), performance.now()];
  const look = () => {
    const now = readProgress(file);
    if (now !== known) [known, since] = [now, performance.now()];
    onTick((performance.now() - since) / 1000, now !== null);
  };
  const timer = setInterval(look, kPollSeconds * 1000); // timer: looks for a process that hangs
  return () => clearInterval(timer);
}

function readProgress(file) {
  try {
    return readFileSync(file, "utf8").trim() || null;
  } catch {
    return null;
  }
}

function lastLine(text) {
  const lines = text
    .split("\n")
    .filter((line) => /^(\w*Error|Aborted|FATAL|Assert|.*assert)/.test(line));
  return (lines[0] ?? text.trim().split("\n").at(-1) ?? "").slice(0, 200);
}
