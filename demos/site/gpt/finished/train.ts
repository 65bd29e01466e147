// What the page opens with: a model that has read the book for a while, its chart, and what it writes (npm run site:finished).

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Learner } from "../../../char_model/learner.mjs";
import { Book } from "../../../char_model/text.mjs";
import { halfFile } from "../../../support/checkpoint.mjs";
import type { Finished } from "./finished.js";

const kSteps = 4000;
const kStepsPerPoint = 50;
const kPrompt = "Call me";
const kCharacters = 300;
const kTemperature = 0.7;

/** Returns the files by name. */
export async function train(): Promise<Record<string, Uint8Array | string>> {
  const text = readFileSync(join(process.cwd(), "demos/char_model/moby_dick.txt"), "utf8");
  const learner = new Learner(new Book(text), "tiny", "cpu");
  const points: Finished["points"][number][] = [];
  while (learner.steps < kSteps) {
    const losses: number[] = [];
    for (let i = 0; i < kStepsPerPoint; i++) losses.push(await learner.step());
    const loss = losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
    const heldOut = await learner.heldOutLoss();
    points.push({
      step: learner.steps,
      loss: Number(loss.toFixed(3)),
      heldOut: Number(heldOut.toFixed(3)),
    });
  }
  let sample = kPrompt;
  for (let i = 0; i < kCharacters; i++) {
    sample += await learner.nextCharacter(sample, kTemperature);
  }
  console.log(`  held out ${points.at(-1)?.heldOut}: ${sample}`);
  const parameters = learner.parameterCount;
  const finished: Finished = { steps: kSteps, parameters, points, sample };
  return {
    "tiny.json": JSON.stringify(finished),
    "tiny.safetensors": halfFile(learner.model),
  };
}
