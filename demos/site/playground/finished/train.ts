// What the page opens with: a network that divides the spiral (npm run site:finished).

import { makePoints } from "../datasets.js";
import { Network } from "../network.js";
import { kFirstSettings } from "../settings.js";
import type { Finished } from "./finished.js";

const kSteps = 1500;
const kStepsPerPoint = 25;

/** Returns the files by name. */
export async function train(): Promise<Record<string, string>> {
  const network = new Network(kFirstSettings);
  const [train, test] = [0, 1].map(() => network.inputsOf(makePoints(kFirstSettings)));
  if (train === undefined || test === undefined) throw new Error("there are no points");
  const points: Finished["points"][number][] = [];
  for (let step = 1; step <= kSteps; step++) {
    network.step(train);
    if (step % kStepsPerPoint !== 0) continue;
    const losses = [await network.test(train), await network.test(test)];
    points.push([step, ...losses.map(({ loss }) => Number(loss.toPrecision(4)))] as never);
  }
  const { accuracy } = await network.test(test);
  console.log(`  ${(100 * accuracy).toFixed(1)} % of the test points`);
  const parameters = await network.parameters();
  const finished: Finished = { steps: kSteps, points, parameters: parameters.map(short) };
  return { "spiral.json": JSON.stringify(finished) };
}

function short(values: readonly number[]): number[] {
  return values.map((value) => Number(value.toPrecision(5)));
}
