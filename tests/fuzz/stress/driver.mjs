// Starts the processes in which programs of the stress fuzzer run, and shrinks their findings.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runChild } from "../driver.mjs";
import { shrink } from "../shrink.mjs";
import { linesOf } from "./programs.mjs";

const kChild = fileURLToPath(new URL("child.mjs", import.meta.url));
const kProgramsPerChild = 40;
// Longer than the runner waits for a promise, which it reports itself.
const kMaxSeconds = 180;

// Thread interleavings differ between runs, so each program is tried several times.
const kTries = 4;

/**
 * Runs programs of a seed until `until` (a time in ms) or up to number `to`. Calls `onFinding` with each new finding;
 * resolves to { cases, calls, findings }.
 */
export async function stress({
  seed,
  variant,
  device = "cpu",
  from = 0,
  to = Infinity,
  until = Infinity,
  shrinkAttempts = 10,
  onFinding = () => {},
}) {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-stress-"));
  const progress = join(folder, "progress");
  const base = { seed, variant, device, progress, child: kChild, maxSeconds: kMaxSeconds };
  const found = new Map();
  let [next, calls] = [from, 0];
  try {
    while (next < to && Date.now() < until) {
      const job = { ...base, until, from: next, to: Math.min(to, next + kProgramsPerChild) };
      const { finding, run } = await findingOf(job);
      if (run.last === null) {
        // Its time was up before the engine had started.
        if (finding === null) break;
        throw new Error(`the engine failed to start: ${finding.message}`);
      }
      calls += run.calls;
      next = run.last + 1;
      if (finding !== null) await add(finding);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { cases: next - from, calls, findings: [...found.values()] };

  async function add(finding) {
    const signature = signatureOf(finding);
    const known = found.get(signature);
    if (known !== undefined) {
      known.count++;
      return;
    }
    const lines =
      finding.kind === "hang" ? finding.lines : await smaller(base, finding, shrinkAttempts);
    found.set(signature, { ...finding, lines, signature, seed, variant, device, count: 1 });
    onFinding(found.get(signature));
  }
}

// Returns a signature that is equal for findings with the same cause; seeds and numbers differ each time.
function signatureOf({ kind, line, message }) {
  const action = /\b([a-z]\w+)\b(?=\)?, \d|\(\d)/.exec(line)?.[1] ?? "";
  const text = message.split("\n")[0].replace(/\d+(\.\d+)?(e[+-]?\d+)?/g, "N");
  return `${kind} ${action} ${text.slice(0, 90)}`.replace(/ +/g, " ");
}

// Returns the finding of a process, if any, and how it ran.
async function findingOf(job) {
  const run = await runChild(job);
  const lines = job.lines ?? linesOf(job.seed, run.last ?? job.from);
  if (run.fatal !== null) return { finding: run.fatal, run };
  if (run.isDone && run.reason === null) return { finding: null, run };
  const reason = run.isDone
    ? { kind: "no end", message: "the process does not exit by itself" }
    : run.reason;
  return { finding: { ...reason, case: run.last, line: "", lines }, run };
}

// Finds fewer lines that still fail in the same way, in at least one of several attempts.
function smaller(base, finding, attempts) {
  const stillFails = async (lines) => {
    const kept = lines.filter(({ text }) => text !== "undefined");
    for (let i = 0; i < kTries; i++) {
      const job = { ...base, lines: kept, from: finding.case, to: finding.case + 1 };
      const again = (await findingOf(job)).finding;
      if (again?.kind === finding.kind) return true;
    }
    return false;
  };
  return shrink(finding.lines, stillFails, attempts);
}
