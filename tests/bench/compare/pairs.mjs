// Measures two builds in pairs: in each round one process per build, in the order A B, B A, A B... A temporary disturbance of the
// machine then affects both.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expected } from "../../../scripts/process.mjs";
import { runChild } from "../runner.mjs";

const kContender = "edgegrad";

/** The workloads that can be compared: those that run in one process per contender. */
export function isComparable({ measure, contenders }) {
  return measure !== undefined && contenders.includes(kContender);
}

/**
 * Resolves to [{ id, title, better, pairs }] for the rows of workloads whose figures can be ranked, where `pairs` are [figure of
 * A, figure of B] per round.
 */
export async function measurePairs(dists, workloads, { node, rounds, wanted, onProgress }) {
  const rows = new Map();
  for (let round = 0; round < rounds; ++round) {
    for (const workload of workloads) {
      onProgress(`${workload.name}, pair ${round + 1} of ${rounds}`);
      for (const one of await measureOnce(dists, workload, node, round % 2 === 1)) {
        if (!wanted(one.id)) continue;
        if (!rows.has(one.id)) rows.set(one.id, { ...one, pairs: [] });
        rows.get(one.id).pairs.push(one.pair);
      }
    }
  }
  return [...rows.values()];
}

async function measureOnce(dists, workload, node, isReversed) {
  const results = [null, null];
  for (const index of isReversed ? [1, 0] : [0, 1]) {
    results[index] = await measureBuild(dists[index], workload, node);
  }
  workload.finish?.(results);
  const context = { quick: true, nodeMajor: node.major, variant: node.variant };
  return workload
    .rows(context)
    .filter(({ better }) => better)
    .map(({ id, title, better }) => ({
      id: `${workload.name}: ${title ?? id}`,
      workload: workload.name,
      better,
      pair: results.map(({ values }) => values[id]),
    }))
    .filter(({ pair }) => pair.every((value) => value > 0));
}

async function measureBuild(dist, { name, limit }, node) {
  const result = await runChild(node.path, {
    workload: name,
    contender: kContender,
    quick: true,
    limit,
    dist,
  });
  if (result.failure) throw expected(`${name} with ${dist}: ${result.failure}`);
  const loaded = pathToFileURL(join(dist, "index.js")).href;
  if (result.package !== loaded) throw new Error(`${result.package} was measured, not ${loaded}`);
  return { contender: kContender, ...result };
}
