// Generation by onnxruntime-web with the graph that edgegrad/onnx writes: one token with the keys and values of those before, which are inputs
// and results. Prints the figures as JSON. In a process of its own, because the model is in memory more than once while it is saved.

import * as eg from "edgegrad";
import { save } from "edgegrad/onnx";
import { AutoModelForCausalLM, KeyValueCache } from "edgegrad/transformers";
import * as ort from "onnxruntime-web";
import { kConfig, kWarmUp, tokens } from "./model.mjs";

const [folder, settings] = process.argv.slice(2);
const { count, threads } = JSON.parse(settings);
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
  const past = Array.from({ length: 2 * kLayers }, () => eg.zeros([1, kGroups, 3, kSize]));
  const names = past.map((_, i) => `past_${i}`);
  const bytes = await save(step(model), {
    inputs: [eg.tensor([[1]], { dtype: "int64" }), ...past],
    inputNames: ["ids", ...names],
    outputNames: ["logits", ...names.map((_, i) => `present_${i}`)],
    dynamicAxes: Object.fromEntries(names.map((name) => [name, { 2: "past" }])),
  });
  await eg.shutdown();
  return bytes;
}

const bytes = await graph();
ort.env.wasm.numThreads = threads;
const session = await ort.InferenceSession.create(bytes, { logSeverityLevel: 3 });

async function generate(most) {
  const ids = tokens(8);
  let past = Array.from(
    { length: 2 * kLayers },
    () => new ort.Tensor("float32", new Float32Array(0), [1, kGroups, 0, kSize]),
  );
  let logits;
  const read = async (token) => {
    const feeds = { ids: new ort.Tensor("int64", BigInt64Array.of(BigInt(token)), [1, 1]) };
    past.forEach((one, i) => {
      feeds[`past_${i}`] = one;
    });
    const results = await session.run(feeds);
    logits = results.logits.data;
    past = past.map((_, i) => results[`present_${i}`]);
  };
  for (const token of ids) await read(token);
  const begin = performance.now();
  for (let i = 0; i < most; i++) {
    let best = 0;
    for (let j = 1; j < logits.length; j++) if (logits[j] > logits[best]) best = j;
    ids.push(best);
    await read(best);
  }
  return { ids, ms: performance.now() - begin };
}

await generate(kWarmUp);
const { ids, ms } = await generate(count);
console.log(JSON.stringify({ tokensPerSecond: (count * 1000) / ms, ids }));
process.exit(0);
