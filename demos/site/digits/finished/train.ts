// What the page opens with: classifiers that have learned, their charts, and a digit to read (npm run site:finished).

import { halfFile } from "../../../support/checkpoint.mjs";
import type { Chart } from "../chart.js";
import { Classifier } from "../classifier.js";
import { type Digits, randomDigits, sliceOf } from "../digits.js";
import { Evaluation, type TestResult } from "../evaluation.js";
import { Meter } from "../meter.js";
import type { ModelName } from "../models.mjs";
import { readSet } from "../shards.mjs";

const kSteps: Record<ModelName, number> = { dense: 6000, convolutional: 3000 };
const kBatch = 64;
const kPoints = 60;
const kTests = 15;
// A clear one.
const kShownDigit = 4;

/** Returns the files by name. */
export async function train(): Promise<Record<string, Uint8Array | string>> {
  const [digits, test] = [readSet("train"), readSet("t10k")];
  const files: Record<string, Uint8Array | string> = {};
  for (const [name, steps] of Object.entries(kSteps) as [ModelName, number][]) {
    const classifier = new Classifier(name, "cpu");
    const finished = await learned(classifier, digits, test, steps);
    console.log(`  ${name}: ${(100 * finished.result.accuracy).toFixed(2)} %`);
    files[`${name}.json`] = JSON.stringify(finished, rounded);
    files[`${name}.safetensors`] = halfFile(classifier.model);
  }
  const { images } = sliceOf(test, kShownDigit, 1);
  files["digit.json"] = JSON.stringify(Array.from(images));
  return files;
}

async function learned(
  classifier: Classifier,
  digits: Digits,
  test: Digits,
  steps: number,
): Promise<Chart & { result: TestResult }> {
  const progress: Chart["progress"][number][] = [];
  const tests: Chart["tests"][number][] = [];
  let meter = new Meter();
  let result: TestResult | null = null;
  while (classifier.steps < steps) {
    const batch = randomDigits([digits], kBatch);
    const outcome = await classifier.step(batch, true);
    if (outcome !== null) meter.read(outcome, batch.labels);
    if (classifier.steps % (steps / kPoints) === 0) {
      const { loss, accuracy } = meter.report(classifier.steps);
      progress.push([classifier.steps, loss, accuracy]);
      meter = new Meter();
    }
    if (classifier.steps % (steps / kTests) !== 0) continue;
    const evaluation = new Evaluation(classifier, test);
    while (await evaluation.advance());
    result = evaluation.result();
    tests.push([classifier.steps, result.loss, result.accuracy]);
  }
  return { progress, tests, result: result as TestResult };
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toPrecision(4)) : value;
}
