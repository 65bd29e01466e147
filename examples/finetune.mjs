// Fine-tuning a language model in Hugging Face's layout: a small Llama first learns to count up, then an adapter teaches it to count down. The adapter is a
// fortieth of the model, and without it the model counts up as before. To begin with a pretrained model, pass the path of its folder to fromPretrained().

import * as eg from "edgegrad";
import { getPeftModel, LoraConfig } from "edgegrad/peft";
import { AutoModelForCausalLM, DataCollatorForLanguageModeling, fit } from "edgegrad/transformers";
import { exportIfWanted } from "./support/onnx.mjs";
import { stepsWanted, tell } from "./support/steps.mjs";

const kTokens = "0123456789<> ";
const kEnd = kTokens.indexOf(">");
const encode = (text) => [...text].map((one) => kTokens.indexOf(one));
const decode = (ids) => ids.map((id) => kTokens[id]).join("");

const steps = stepsWanted(150);
await eg.init();
eg.manualSeed(0);

/** The files of a small Llama with random weights. */
function newModel({ hidden = 64, inner = 128, layers = 2, heads = 4 } = {}) {
  const words = kTokens.length;
  const config = {
    model_type: "llama",
    vocab_size: words,
    hidden_size: hidden,
    intermediate_size: inner,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    max_position_embeddings: 32,
  };
  const shapes = { "model.embed_tokens": [words, hidden], lm_head: [words, hidden] };
  for (let i = 0; i < layers; i++) {
    for (const one of "qkvo") shapes[`model.layers.${i}.self_attn.${one}_proj`] = [hidden, hidden];
    for (const one of ["gate", "up"]) shapes[`model.layers.${i}.mlp.${one}_proj`] = [inner, hidden];
    shapes[`model.layers.${i}.mlp.down_proj`] = [hidden, inner];
    for (const one of ["input", "post_attention"]) {
      shapes[`model.layers.${i}.${one}_layernorm`] = [hidden];
    }
  }
  shapes["model.norm"] = [hidden];
  const weights = Object.entries(shapes).map(([name, shape]) => [
    `${name}.weight`,
    shape.length === 1 ? eg.ones(shape) : eg.randn(shape).mul(shape[1] ** -0.5),
  ]);
  return {
    "config.json": JSON.stringify(config),
    "model.safetensors": eg.io.saveSafetensors(Object.fromEntries(weights)),
  };
}

/** Texts that count from a digit to the end, such as "<3 4 5 6 7 8 9 >". */
function texts(step) {
  return Array.from({ length: 10 }, (_, start) => {
    const digits = [];
    for (let digit = start; digit >= 0 && digit < 10; digit += step) digits.push(digit);
    return { inputIds: encode(`<${digits.join(" ")} >`) };
  });
}

async function learn(model, examples, name) {
  const { collate } = new DataCollatorForLanguageModeling({ padTokenId: kEnd });
  const batches = { batchSize: 10, shuffle: true, collateFn: collate };
  const learned = model.parameters().filter(({ requiresGrad }) => requiresGrad);
  console.log(`${name}: ${learned.reduce((sum, { numel }) => sum + numel, 0)} parameters to train`);
  await fit(model, new eg.data.DataLoader(examples, batches), {
    optimizer: new eg.optim.AdamW(learned, { lr: 5e-3 }),
    epochs: steps,
    clipNorm: 1,
    onStep: ({ step, loss }) => tell(step - 1, steps, { loss }),
  });
}

async function count(model) {
  const start = eg.tensor([encode("<5")], { dtype: "int64" });
  const text = await model.generate(start, { maxNewTokens: 20, eosTokenId: kEnd });
  return decode(text.arraySync()[0]);
}

const base = await AutoModelForCausalLM.fromPretrained(newModel());
await learn(base, texts(1), "counting up");
const model = getPeftModel(base, new LoraConfig({ r: 4, targetModules: ["q_proj", "v_proj"] }));
await learn(model, texts(-1), "counting down with LoRA");
console.log(`with the adapter ${await count(model)}`);
console.log(`without it       ${await model.disableAdapter(() => count(model))}`);
console.log(`files of the adapter: ${Object.keys(await model.savePretrained()).join(", ")}`);

class Scores extends eg.nn.Module {
  model = base;
  forward = (ids) => this.model.call(ids).logits;
}
model.mergeAndUnload();
await exportIfWanted("finetune", new Scores(), [eg.tensor([encode("<5 ")], { dtype: "int64" })]);
