// The examples of the reference: a program for every function and class, which was run, with what it prints. Written by hand in a comment
// (@example) or in by_hand.mjs, or taken from the guide, or generated from the samples of ops and the fuzzer's recipes. `node scripts/docs/examples/index.mjs FILE`
// writes them as JSON; a test runs it, too.

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { surfaceOf } from "../../../tests/fuzz/surface.mjs";
import { eg } from "../../../tests/js/support/engine.mjs";
import { functionOf } from "../../../tests/js/support/op_samples.mjs";
import { kAddons } from "../../addons.mjs";
import { kByHand, kElsewhere, kSameAs } from "./by_hand.mjs";
import { exampleOf as ofGuide } from "./guide.mjs";
import { runByHand } from "./hand_program.mjs";
import { errorsOfCall } from "./measured.mjs";
import { kBeginning } from "./program.mjs";
import { exampleOf as ofRecipe } from "./recipes.mjs";
import { kOps, exampleOf as ofSamples } from "./samples.mjs";

/**
 * Returns the examples by the name in the reference: { code, source, shapes, dtypes, errors }, where `source` is "hand", "elsewhere" (by hand, and not run), "samples", "recipes" or "guide". Names for
 * which there are none are in `missing`.
 */
export async function makeExamples() {
  const examples = new Map();
  for (const [name, code] of Object.entries(kByHand))
    examples.set(name, { code: await runByHand(name, code), source: "hand" });
  for (const [name, code] of Object.entries(kElsewhere))
    examples.set(name, { code, source: "elsewhere" });
  for (const op of kOps) {
    for (const [name, { text, ...facts }] of await ofSamples(op))
      if (!examples.has(name))
        examples.set(name, { code: kBeginning + text, source: "samples", ...facts });
  }
  const names = namesOfPackage();
  for (const name of names.filter((name) => !examples.has(name))) {
    const made = await ofRecipe(name);
    if (made !== null)
      examples.set(name, { ...made, code: kBeginning + made.code, source: "recipes" });
  }
  // Another name of a function has its example.
  for (const name of names.filter((name) => !examples.has(name))) {
    const same = [...examples.keys()].find((other) => functionOf(other) === functionOf(name));
    if (same === undefined || functionOf(name) === undefined) continue;
    const { code, ...rest } = examples.get(same);
    examples.set(name, { ...rest, same, code: code.replaceAll(`eg.${same}(`, `eg.${name}(`) });
  }
  const all = [...names, ...(await namesOfAddons())];
  for (const name of all.filter((name) => !examples.has(name))) {
    const program = ofGuide(name);
    if (program !== null) examples.set(name, { code: program.code, source: "guide" });
  }
  for (const [name, other] of Object.entries(kSameAs))
    if (!examples.has(name) && examples.has(other)) examples.set(name, examples.get(other));
  for (const name of names) {
    const example = examples.get(name);
    if (example && !example.errors?.length)
      examples.set(name, { ...example, errors: await errorsOfCall(name) });
  }
  const missing = all.filter((name) => !examples.has(name));
  return { examples: Object.fromEntries(examples), missing };
}

// The fuzzer does not call these.
const kNotOfSurface = ["init", "shutdown", "spawn", "deviceLost", "Tensor"];

function namesOfPackage() {
  return [...surfaceOf(eg).map(({ text }) => text.slice("eg.".length)), ...kNotOfSurface];
}

async function namesOfAddons() {
  const lists = kAddons.map(async (addon) => {
    const entries = Object.entries(await import(`edgegrad/${addon}`));
    return entries
      .filter(([name, value]) => typeof value === "function" && name !== "default")
      .map(([name]) => `edgegrad/${addon}.${name}`);
  });
  return (await Promise.all(lists)).flat();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(process.argv[2], JSON.stringify(await makeExamples()));
  process.exit();
}
