// Runs the demo from start to finish.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import * as eg from "edgegrad";
import { packCheckpoint, unpackCheckpoint } from "../support/checkpoint.mjs";
import { kInterrupted, startEngine, watchInterrupt } from "../support/engine.mjs";
import { startProgress } from "../support/progress.mjs";
import { Learner } from "./learner.mjs";
import { Book } from "./text.mjs";

// The displayed loss is a running average over about this many steps.
const kSmoothing = 50;

/** Runs the demo and returns the exit status. */
export async function run(options) {
  if (!(await startEngine(options))) return 1;
  const book = new Book(readFileSync(new URL("moby_dick.txt", import.meta.url), "utf8"));
  const { length } = book.train;
  console.log(`Moby-Dick: ${length} training characters, ${book.characters.length} distinct`);
  eg.manualSeed(options.seed);
  const learner = new Learner(book, options.size, options.device);
  console.log(`${options.size}: ${learner.parameterCount} parameters`);
  if (options.save !== undefined && existsSync(options.save)) {
    unpackCheckpoint(learner, readFileSync(options.save));
    console.log(`${options.save}: resuming after step ${learner.steps}`);
  }
  const interrupt = watchInterrupt();
  await train(learner, options.steps, interrupt);
  console.log(`held-out loss ${(await learner.heldOutLoss()).toFixed(4)}`);
  if (options.save !== undefined) await save(learner, options.save);
  console.log(`\n${await write(learner, options)}`);
  return interrupt.happened ? kInterrupted : 0;
}

async function train(learner, steps, interrupt) {
  const progress = startProgress("training", steps * learner.tokensPerStep, "characters");
  let shown = 0;
  let step = 0;
  while (step < steps && !interrupt.happened) {
    const loss = await learner.step();
    shown += (loss - shown) / Math.min(++step, kSmoothing);
    progress.update(step * learner.tokensPerStep, shown);
    await new Promise(setImmediate);
  }
  progress.stop();
  console.log(
    `${interrupt.happened ? "interrupted after" : "after"} ${step} steps: loss ${shown.toFixed(4)}`,
  );
}

async function save(learner, file) {
  const bytes = await packCheckpoint(learner);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
  console.log(`saved ${file} (${(bytes.length / 1000).toFixed(0)} kB)`);
}

async function write(learner, { prompt, characters, temperature }) {
  let text = prompt;
  for (let i = 0; i < characters; i++) text += await learner.nextCharacter(text, temperature);
  return text;
}
