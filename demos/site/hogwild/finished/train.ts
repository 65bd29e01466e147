// What the page opens with: a comparison on the machine that ran this (npm run site:finished).

import { availableParallelism, loadavg } from "node:os";
import * as eg from "edgegrad";
import { readSet } from "../../digits/shards.mjs";
import { Hogwild, type Progress } from "../comparison.js";
import { trainShared } from "../model.js";
import type { FinishedRun } from "./finished.js";

// One engine thread, so that each op runs on the worker that calls it.
export const kEngine = { threads: 1, spawnWorkers: 4 };

const kWorkers = [1, 2, 4];
const kSteps = 4000;
const kMostPoints = 60;

// From this load on, other programs use the cores that the workers need.
const kBusy = 0.5;

/** What the workers run. */
export const work = trainShared;

/** Returns the files by name. */
export async function train(): Promise<Record<string, string>> {
  const hogwild = new Hogwild((_, ...given) => eg.spawn(import.meta.url, "work", ...given));
  hogwild.use([readSet("train")], readSet("t10k"));
  const runs: FinishedRun[] = [];
  const [load = 0] = loadavg();
  for (const workers of kWorkers) {
    const points: Progress[] = [];
    const result = await hogwild.run(workers, kSteps, (progress) => points.push(progress));
    const every = Math.ceil(points.length / kMostPoints);
    const kept = points.filter((_, i) => i % every === 0 || i === points.length - 1);
    console.log(`  ${workers} workers: ${result.samplesPerSecond} samples/s, ${result.accuracy}`);
    const chart = kept.map(({ seconds, loss }) => [short(seconds), short(loss)] as const);
    runs.push({ workers, result, points: chart });
  }
  return {
    "runs.json": JSON.stringify({ cores: availableParallelism(), isBusy: load > kBusy, runs }),
  };
}

function short(value: number): number {
  return Number(value.toPrecision(4));
}
