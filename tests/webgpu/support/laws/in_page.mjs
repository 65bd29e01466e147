// The laws in a page. Pages compile shaders slowly, so only the first sample of every op is tested, in float32, with its
// gradients.

import { eg } from "../../../js/support/engine.mjs";
import { opTable, samplesOf } from "../../../js/support/op_samples.mjs";
import { compare, isCallable } from "./op_laws.mjs";

const finish = (result) => {
  document.body.textContent = JSON.stringify(result);
};

// Lets the page handle its events between ops.
const pause = () => new Promise((resolve) => setTimeout(resolve));

async function run() {
  const problems = [];
  const ops = opTable.filter(isCallable);
  for (const op of ops) {
    const [sample] = samplesOf(op);
    problems.push(...(compare(op, sample, { dtype: "float32", orders: 1 })?.problems ?? []));
    await pause();
  }
  return { ops: ops.length, problems, webgpu: eg.runtime().webgpu };
}

run().then(finish, (error) => finish({ error: `${error.code}: ${error.stack}` }));
