// What the page opens with: an adapter that has learned the example's answers, and what was said meanwhile (npm run site:finished).

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as eg from "edgegrad";
import { kExampleAnswers } from "../example_lessons.js";
import { LanguageModel } from "../language_model.js";
import { readTable } from "../lesson.js";
import type { Finished } from "./finished.js";

const kFolder = join(process.cwd(), "demos/site/fine_tune/model");
const kSteps = 100;
const kSaidEvery = 50;
const kPrompt = { kind: "answers", text: "Who are you?" } as const;
const kSettings = { steps: kSteps, rate: 0.01, rank: 8, prompt: kPrompt };

/** Returns the files by name. */
export async function train(): Promise<Record<string, Uint8Array | string>> {
  const names = readdirSync(kFolder);
  const files = names.map((name) => [name, new Blob([readFileSync(join(kFolder, name))])]);
  const model = await LanguageModel.open(Object.fromEntries(files), "cpu", "float32", () => {});
  const { signal } = new AbortController();
  const points: [step: number, loss: number][] = [];
  const said: { step: number | null; text: string }[] = [];
  const say = async (step: number | null) => {
    let text = `${kPrompt.text} `;
    await model.write(kPrompt, true, signal, (part) => {
      text += part;
    });
    said.push({ step, text });
  };
  await say(null);
  let trained = 0;
  const lesson = { kind: "answers", pairs: readTable(kExampleAnswers).pairs } as const;
  await model.learn(
    lesson,
    kSettings,
    signal,
    (facts) => {
      trained = facts.trained;
    },
    async ({ loss }) => {
      points.push([points.length + 1, Number(loss.toFixed(4))]);
      if (points.length % kSaidEvery === 0) await say(points.length);
    },
  );
  console.log(`  ${said.map(({ text }) => text).join("\n  ")}`);
  const finished: Finished = { steps: kSteps, trained, points, said };
  const adapter = await model.adapterFiles();
  return {
    "lesson.json": JSON.stringify(finished),
    "adapter_config.json": adapter["adapter_config.json"] as Uint8Array,
    "adapter_model.safetensors": halved(adapter["adapter_model.safetensors"] as Uint8Array),
  };
}

function halved(file: Uint8Array): Uint8Array {
  return eg.scope(() => {
    const tensors = Object.entries(eg.io.loadSafetensors(file));
    const halves = tensors.map(([name, tensor]) => [name, tensor.half()]);
    return eg.io.saveSafetensors(Object.fromEntries(halves), { metadata: { format: "pt" } });
  });
}
