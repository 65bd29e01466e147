// Measures one workload on one Node.js: every contender in a separate process, round by round, keeping the best of each
// figure.

import { kContenders, resultOf } from "./contenders.mjs";
import { runChild } from "./runner.mjs";

/** Resolves to the results: one {contender, values, errors, data, failure, detail} per contender. */
export async function measureWorkload(workload, node, context, onProgress = () => {}) {
  await workload.prepare?.();
  if (workload.measureAll) return workload.measureAll(node, context);
  const results = workload.contenders.map((id) => resultOf(id));
  const rows = workload.rows(context);
  const repeats = context.quick ? 1 : workload.repeats;
  const probe = async (round) => {
    if (!workload.probe) return;
    onProgress("probe");
    merge(results, await workload.probe(node, context, round), rows);
  };
  for (let round = 0; round < repeats; ++round) {
    await probe(round);
    const order = results.filter(({ contender }) => kContenders[contender].library);
    if (round % 2) order.reverse();
    for (const { contender, failure } of order) {
      if (failure) continue; // do not retry a failure
      onProgress(contender);
      const { name, limit } = workload;
      const options = { workload: name, contender, quick: context.quick, limit };
      merge(results, { contender, ...(await runChild(node, options)) }, rows);
    }
  }
  await probe(repeats);
  workload.finish?.(results);
  return results;
}

function merge(results, { contender, values, ...rest }, rows) {
  const result = results.find((other) => other.contender === contender);
  for (const [id, value] of Object.entries(values)) {
    const { better } = rows.find((row) => row.id === id);
    result.values[id] = betterOf(better, result.values[id] ?? value, value);
  }
  Object.assign(result, rest);
}

function betterOf(better, a, b) {
  if (better === "higher") return Math.max(a, b);
  return better === "lower" ? Math.min(a, b) : b;
}
