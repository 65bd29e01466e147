// Generation by onnxruntime-web with the graph that edgegrad/onnx writes: one token of each text with the keys and values of those before, which
// are inputs and results. With "prompt", a graph that reads a long text at once. Prints the figures as JSON. In a process of its own, because the model is in memory more than once while it is saved.

import * as eg from "edgegrad";
import { save } from "edgegrad/onnx";
import { AutoModelForCausalLM, KeyValueCache } from "edgegrad/transformers";
import * as ort from "onnxruntime-web";
import { median } from "../clock.mjs";
import { kConfig, kPrompt, kWarmUp, texts, tokens } from "./model.mjs";

const [task, folder, settings] = process.argv.slice(2);
const { count, threads, batch = 1 } = JSON.parse(settings);
const kLayers = kConfig.num_hidden_layers;
const kGroups = kConfig.num_key_value_heads;
const kSize = kConfig.hidden_size / kConfig.num_attention_heads;

/** A cache that ONNX can have: keys and values are joined, and are results. */
class JoiningCache extends KeyValueCache {
  constructor(past) {
    super();
    this.past = past;
    this.present = [];
  }

  get length() {
    return this.past[0].shape[2];
  }

  append(index, keys, values) {
    const joined = [keys, values].map((one, i) => eg.cat([this.past[2 * index + i], one], 2));
    this.present.push(...joined);
    return joined;
  }
}

function step(model) {
  return (ids, ...past) => {
    const cache = new JoiningCache(past);
    const options = { pastKeyValues: cache, logitsToKeep: 1 };
    const { logits } = eg.noGrad(() => model.call(ids, options));
    return [logits, ...cache.present];
  };
}

async function graph() {
  await eg.init({ threads, webgpu: "off" });
  const model = await AutoModelForCausalLM.fromPretrained(folder, { dtype: "float32" });
  const bytes = await (task === "prompt" ? graphOfPrompt(model) : graphOfStep(model));
  await eg.shutdown();
  return bytes;
}

function graphOfPrompt(model) {
  const read = (ids) => eg.noGrad(() => model.call(ids, { logitsToKeep: 1 }).logits);
  const ids = eg.tensor([tokens(kPrompt)], { dtype: "int64" });
  return save(read, { inputs: [ids], inputNames: ["ids"], outputNames: ["logits"] });
}

function graphOfStep(model) {
  const past = Array.from({ length: 2 * kLayers }, () => eg.zeros([batch, kGroups, 3, kSize]));
  const names = past.map((_, i) => `past_${i}`);
  return save(step(model), {
    inputs: [eg.ones([batch, 1], { dtype: "int64" }), ...past],
    inputNames: ["ids", ...names],
    outputNames: ["logits", ...names.map((_, i) => `present_${i}`)],
    dynamicAxes: Object.fromEntries(names.map((name) => [name, { 2: "past" }])),
  });
}

const bytes = await graph();
ort.env.wasm.numThreads = threads;
const session = await ort.InferenceSession.create(bytes, { logSeverityLevel: 3 });

const kTasks = {
  async generate() {
    await write(kWarmUp);
    const { ids, ms } = await write(count);
    return { tokensPerSecond: (batch * count * 1000) / ms, ids };
  },

  async prompt() {
    const feeds = { ids: tensorOf([tokens(kPrompt)]) };
    const times = [];
    let next;
    for (let i = 0; i <= count; i++) {
      const begin = performance.now();
      next = bestOf((await session.run(feeds)).logits.data);
      times.push(performance.now() - begin);
    }
    return { tokensPerSecond: (kPrompt * 1000) / median(times.slice(1)), ids: [[next]] };
  },
};

async function write(most) {
  const ids = texts(batch, 8);
  let past = Array.from(
    { length: 2 * kLayers },
    () => new ort.Tensor("float32", new Float32Array(0), [batch, kGroups, 0, kSize]),
  );
  let logits;
  const read = async (column) => {
    const feeds = { ids: tensorOf(column.map((token) => [token])) };
    past.forEach((one, i) => {
      feeds[`past_${i}`] = one;
    });
    const results = await session.run(feeds);
    logits = results.logits.data;
    past = past.map((_, i) => results[`present_${i}`]);
  };
  for (let i = 0; i < 8; i++) await read(ids.map((text) => text[i]));
  const begin = performance.now();
  for (let i = 0; i < most; i++) {
    const words = kConfig.vocab_size;
    const best = ids.map((_, text) => bestOf(logits.subarray(text * words, (text + 1) * words)));
    for (const [j, text] of ids.entries()) text.push(best[j]);
    await read(best);
  }
  return { ids, ms: performance.now() - begin };
}

function tensorOf(rows) {
  const values = BigInt64Array.from(rows.flat(), BigInt);
  return new ort.Tensor("int64", values, [rows.length, rows[0].length]);
}

function bestOf(logits) {
  let best = 0;
  for (let j = 1; j < logits.length; j++) if (logits[j] > logits[best]) best = j;
  return best;
}

console.log(JSON.stringify(await kTasks[task]()));
process.exit(0);
