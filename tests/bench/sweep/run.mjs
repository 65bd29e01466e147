// Runs the sweep (child.mjs) on a Node.js and prints results as they arrive.

import { fileURLToPath } from "node:url";
import { runProgram } from "../runner.mjs";
import { ratioOf } from "./page.mjs";

const kChild = fileURLToPath(new URL("child.mjs", import.meta.url));

/** The smallest ratio that is printed during the run; the page has all of them. */
const kTold = 3;

/** Resolves to { torch, blas, variant, warning, rows }; `only` lists families, or parts of titles. */
export async function runSweep(node, { only = null, quick = false } = {}) {
  const result = { torch: "", blas: "", variant: "", warning: "", rows: [] };
  const onMessage = (message) => {
    if (message.detail) {
      if (message.detail.warning) console.warn(`Warning: ${message.detail.warning}`);
      return Object.assign(result, message.detail);
    }
    result.rows.push(message);
    tell(message, only !== null);
  };
  const given = [JSON.stringify({ only, quick })];
  const failure = await runProgram(kChild, given, onMessage, { execPath: node });
  if (failure !== null) throw new Error(`the sweep: ${failure}`);
  return result;
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
