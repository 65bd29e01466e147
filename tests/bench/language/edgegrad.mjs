// One task of this package in a process of its own, whose peak of memory is that of the task. Prints the figures as JSON.

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as eg from "edgegrad";
import { getPeftModel, LoraConfig } from "edgegrad/peft";
import { AutoModelForCausalLM } from "edgegrad/transformers";
import { median } from "../clock.mjs";
import { productSpeed } from "../torch/product_speed.mjs";
import { kLora, kPrompt, kTokens, kWarmUp, texts, tokens } from "./model.mjs";

const [task, folder, settings] = process.argv.slice(2);
const { count, threads, batch = 1, ...options } = JSON.parse(settings);

const kTasks = {
  /** Reads the model as often as the file alone, in turn. */
  async load() {
    const pairs = [];
    for (let i = 0; i < count; i++) {
      const begin = performance.now();
      await readFile(join(folder, "model.safetensors"));
      const middle = performance.now();
      const model = await AutoModelForCausalLM.fromPretrained(folder, options);
      const end = performance.now();
      for (const one of [...model.parameters(), ...model.buffers()]) one.dispose();
      pairs.push({ file: middle - begin, load: end - middle });
    }
    const ratio = median(pairs.map(({ file, load }) => load / file));
    return { ...medians(pairs), ratio };
  },

  async generate() {
    const model = await AutoModelForCausalLM.fromPretrained(folder, options);
    const ids = eg.tensor(texts(batch, 8), { dtype: "int64" });
    // Measured from the first new token on, as with onnxruntime-web: the prompt is not counted.
    const write = async (most) => {
      const times = [];
      const streamer = { put: () => times.push(performance.now()) };
      const options = { maxNewTokens: most + 1, eosTokenId: null, streamer };
      const rows = (await model.generate(ids, options)).arraySync();
      return {
        ids: rows.map((row) => row.slice(0, -1).map(Number)),
        ms: times.at(-1) - times[1],
      };
    };
    await write(kWarmUp);
    const { ids: written, ms } = await write(count);
    return { tokensPerSecond: (batch * count * 1000) / ms, ids: written };
  },

  /** Reads a long prompt and predicts one token. */
  async prompt() {
    const model = await AutoModelForCausalLM.fromPretrained(folder, options);
    const ids = eg.tensor([tokens(kPrompt)], { dtype: "int64" });
    const times = [];
    let next;
    for (let i = 0; i <= count; i++) {
      const begin = performance.now();
      next = eg.scope(() =>
        eg.noGrad(() => model.call(ids, { logitsToKeep: 1 }).logits.argmax(-1).item()),
      );
      times.push(performance.now() - begin);
    }
    const ms = median(times.slice(1));
    return { tokensPerSecond: (kPrompt * 1000) / ms, ids: [[next]] };
  },

  async train() {
    const base = await AutoModelForCausalLM.fromPretrained(folder, options);
    const model = getPeftModel(base, new LoraConfig(kLora)).train();
    eg.noGrad(() => {
      for (const [name, one] of model.namedParameters())
        if (name.includes("lora_A")) one.fill_(0.01);
    });
    const trained = model.parameters().filter(({ requiresGrad }) => requiresGrad);
    const optimizer = new eg.optim.AdamW(trained, { lr: 1e-3 });
    const ids = eg.tensor([tokens(kTokens)], { dtype: "int64" });
    const times = [];
    const losses = [];
    for (let i = 0; i < count; i++) {
      const begin = performance.now();
      eg.scope(() => {
        optimizer.zeroGrad();
        const { loss } = model.call(ids, { labels: ids });
        loss.backward();
        optimizer.step();
        losses.push(loss.item());
      });
      times.push(performance.now() - begin);
    }
    return { msPerStep: median(times.slice(1)), losses };
  },

  product: async () => ({ gflops: await productSpeed() }),
};

function medians(list) {
  const keys = Object.keys(list[0]);
  return Object.fromEntries(keys.map((key) => [key, median(list.map((one) => one[key]))]));
}

await eg.init({ threads, webgpu: "off" });
const figures = await kTasks[task]();
const status = readFileSync("/proc/self/status", "utf8");
const processMegabytes = Number(/VmHWM:\s+(\d+)/.exec(status)[1]) / 1000;
const tensorMegabytes = eg.memory().cpuPeakBytes / 1e6;
console.log(JSON.stringify({ ...figures, processMegabytes, tensorMegabytes }));
process.exit(0);
