// Finds timers in tests. A test that waits for a fixed time fails on a busy machine, or is slow on all others; it should wait for a
// condition instead (tests/support/until.mjs). Where time is the subject of a test, the line says so: `// timer: the reason`.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { kRoot } from "../process.mjs";

const kTimer =
  /\b(?:setTimeout|setInterval|waitForTimeout|sleep_for|sleep_until)\b|timers\/promises|AbortSignal\.timeout/;
const kReason = /\/\/ timer: \w/;
const kTest = /\.(?:mjs|js|html|cpp|h)$/;
// Support code implements the waiting, and benchmarks assert nothing.
const kMayWait = /(?:^|\/)support\/|^bench\//;

/** Returns the lines of tests that have a timer without a reason. */
export function findTimers(folder = join(kRoot, "tests")) {
  const files = readdirSync(folder, { recursive: true }).filter(
    (name) => kTest.test(name) && !kMayWait.test(name),
  );
  return files.flatMap((name) =>
    readFileSync(join(folder, name), "utf8")
      .split("\n")
      .flatMap((line, i) =>
        kTimer.test(line) && !kReason.test(line)
          ? `tests/${name}:${i + 1}: a timer without a reason ("// timer: ..."): ${line.trim()}`
          : [],
      ),
  );
}
