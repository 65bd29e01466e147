// Runs the sweep (child.mjs) on a Node.js and prints results as they arrive.

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ratioOf } from "./page.mjs";

const kChild = fileURLToPath(new URL("child.mjs", import.meta.url));

/** The smallest ratio that is printed during the run; the page has all of them. */
const kTold = 3;

/** Resolves to { torch, variant, rows }; `only` lists families, or parts of titles. */
export function runSweep(node, { only = null, quick = false } = {}) {
  const child = fork(kChild, [JSON.stringify({ only, quick })], { execPath: node, execArgv: [] });
  const result = { torch: "", variant: "", rows: [] };
  let isDone = false;
  child.on("message", (message) => {
    if (message.isDone) isDone = true;
    else if (message.detail) Object.assign(result, message.detail);
    else {
      result.rows.push(message);
      tell(message, only !== null);
    }
  });
  return new Promise((resolve, reject) => {
    child.on("close", (code, signal) => {
      if (isDone) resolve(result);
      else reject(new Error(`the sweep exited with ${signal ?? code}`));
    });
  });
}

function tell(row, isAll) {
  const { title, size, error, theirError } = row;
  if (error) console.log(`  ${title}, ${size}: ${error}`);
  else if (theirError && isAll) console.log(`  ${title}, ${size}: PyTorch: ${theirError}`);
  for (const part of ["forward", "both"]) {
    const ratio = ratioOf(row, part);
    if (ratio === null || (ratio < kTold && !isAll)) continue;
    const { ours, theirs } = row[part];
    const times = `${ours.toFixed(3)} ms, PyTorch ${theirs.toFixed(3)} ms`;
    console.log(
      `  ${ratio.toFixed(1).padStart(6)}  ${title}${part === "both" ? " and gradient" : ""}, ${size}: ${times}`,
    );
  }
}
