// GGUF files: their numbers and names are those of the format's definition (support/gguf_files.mjs, support/gguf_models.mjs), and models of them compute
// what the same model of safetensors does.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { AutoModelForCausalLM } from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";
import { ggufFile, kBlockTypes } from "../support/gguf_files.mjs";
import { ggufMetadata, ggufTensors } from "../support/gguf_models.mjs";
import { kDecoders } from "../support/plain_decoders.mjs";
import { distance, drawWeights, filesOf, idsOf } from "../support/pretrained.mjs";
import { serveRanges } from "../support/ranges_server.mjs";

const row = (list) => eg.tensor([list], { dtype: "int64" });

const drawn = new Map();

/** Draws weights once for all tests. */
function drawnWeights(shapes) {
  if (!drawn.has(shapes)) drawn.set(shapes, drawWeights(shapes, 1, 0.1));
  return drawn.get(shapes);
}

/** A GGUF file of a model, and what is needed to open the same model otherwise. */
function made(architecture, config, shapes, typeOf, extra = {}) {
  const { tensors, arrays } = drawnWeights(shapes);
  const sizes = {
    heads: config.num_attention_heads ?? config.n_head,
    groups: config.num_key_value_heads,
  };
  const written = ggufTensors(architecture, arrays, sizes, typeOf);
  const metadata = { ...ggufMetadata(architecture, config), ...extra.metadata };
  const bytes = ggufFile({ metadata, tensors: { ...written, ...extra.tensors } });
  return { bytes, tensors, written, ids: idsOf(9, config.vocab_size) };
}

// What metadata do not say is as in the families' defaults.
const kDefaults = {
  gemma2: { query_pre_attn_scalar: 6 },
  gemma3_text: { query_pre_attn_scalar: 6, sliding_window_pattern: 6, rope_scaling: undefined },
  smollm3: { no_rope_layers: undefined },
};

const kArchitectures = [
  ["llama", "llama"],
  ["llama, tied", "llama"],
  ["mistral without a window", "llama"],
  ["qwen2", "qwen2"],
  ["qwen3", "qwen3"],
  ["gemma2", "gemma2"],
  ["gemma3_text", "gemma3"],
  ["phi3", "phi3"],
  ["olmo2", "olmo2"],
  ["granite", "granite"],
  ["smollm3", "smollm3"],
  ["stablelm", "stablelm"],
  ["stablelm, parts side by side", "stablelm"],
  ["gpt_neox", "gptneox"],
  ["gpt_neox, one part after the other", "gptneox"],
  ["gpt2", "gpt2"],
];

describe("a model computes what it does from safetensors:", () => {
  for (const [name, architecture] of kArchitectures) {
    test(name, async () => {
      const { config: given, shapes } = kDecoders[name];
      const config = { ...given, ...kDefaults[given.model_type] };
      const local = { "gemma3.rope.freq_base_swa": { type: "float32", value: 100 } };
      const metadata = architecture === "gemma3" ? local : {};
      const { bytes, tensors, ids } = made(architecture, config, shapes, undefined, { metadata });
      const wanted = await AutoModelForCausalLM.fromPretrained(filesOf(config, tensors));
      const model = await AutoModelForCausalLM.fromPretrained(bytes);
      const scores = wanted.call(row(ids)).logits.arraySync();
      assert.ok(distance(model.call(row(ids)).logits, scores) < 1e-5);
      const saved = await AutoModelForCausalLM.fromPretrained(await model.savePretrained());
      assert.ok(distance(saved.call(row(ids)).logits, scores) < 1e-5);
    });
  }
});

// A llama whose rows are blocks of 256.
const kWide = {
  model_type: "llama",
  vocab_size: 40,
  hidden_size: 256,
  intermediate_size: 256,
  num_hidden_layers: 1,
  num_attention_heads: 4,
  num_key_value_heads: 1,
  max_position_embeddings: 64,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: false,
};
const kWideShapes = {
  "model.embed_tokens.weight": [40, 256],
  "model.norm.weight": [256],
  "lm_head.weight": [40, 256],
  "model.layers.0.input_layernorm.weight": [256],
  "model.layers.0.post_attention_layernorm.weight": [256],
  "model.layers.0.self_attn.q_proj.weight": [256, 256],
  "model.layers.0.self_attn.k_proj.weight": [64, 256],
  "model.layers.0.self_attn.v_proj.weight": [64, 256],
  "model.layers.0.self_attn.o_proj.weight": [256, 256],
  "model.layers.0.mlp.gate_proj.weight": [256, 256],
  "model.layers.0.mlp.up_proj.weight": [256, 256],
  "model.layers.0.mlp.down_proj.weight": [256, 256],
};
const kTiedShapes = Object.fromEntries(
  Object.entries(kWideShapes).filter(([name]) => name !== "lm_head.weight"),
);

/** The GGUF file with the numbers that its blocks stand for as floats. */
function asFloats(config, file) {
  const tensors = Object.fromEntries(
    Object.entries(file.written).map(([name, one]) => {
      const bytes = new Uint8Array(Float32Array.from(one.numbers).buffer);
      return [name, { type: "F32", shape: one.shape, bytes }];
    }),
  );
  return ggufFile({ metadata: ggufMetadata("llama", config), tensors });
}

// Groups of Q6_K are smaller than ours, so each number moves by up to half a step of eight bits.
const kMost = { ...Object.fromEntries(kBlockTypes.map((type) => [type, 1e-5])), Q6_K: 0.04 };

describe("blocks of few bits stand for their numbers:", () => {
  for (const type of kBlockTypes) {
    test(type, async () => {
      const file = made("llama", kWide, kWideShapes, () => type);
      const floats = await AutoModelForCausalLM.fromPretrained(asFloats(kWide, file));
      const model = await AutoModelForCausalLM.fromPretrained(file.bytes);
      const scores = floats.call(row(file.ids)).logits.arraySync();
      const apart = distance(model.call(row(file.ids)).logits, scores);
      assert.ok(apart < kMost[type], `${apart}`);
      const matrices = model.namedBuffers().filter(([name]) => /\.weight$/.test(name));
      assert.equal(matrices.length, 9);
      assert.ok(matrices.every(([, { dtype }]) => dtype === "uint8"));
      assert.ok(model.parameters().every(({ ndim }) => ndim === 1));
      const whole = await AutoModelForCausalLM.fromPretrained(file.bytes, { dequantize: true });
      assert.equal(whole.namedBuffers().length, 0);
      for (const [name, parameter] of floats.namedParameters()) {
        const close = { rtol: 1e-6, atol: 1e-6 };
        eg.testing.assertClose(whole.getParameter(name), parameter, close);
      }
    });
  }
});

test("a table of words that is the head too has its bits", async () => {
  const config = { ...kWide, tie_word_embeddings: true };
  for (const type of ["Q4_K", "Q8_0", "Q6_K"]) {
    const file = made("llama", config, kTiedShapes, () => type);
    const floats = await AutoModelForCausalLM.fromPretrained(asFloats(config, file));
    const model = await AutoModelForCausalLM.fromPretrained(file.bytes);
    assert.equal(model.config.tie_word_embeddings, true);
    const scores = floats.call(row(file.ids)).logits.arraySync();
    const apart = distance(model.call(row(file.ids)).logits, scores);
    assert.ok(apart < kMost[type], `${apart}`);
  }
});

test("matrices of different types are read, also the rotated ones", async () => {
  const typeOf = (name) =>
    /attn_q|attn_k/.test(name)
      ? "Q5_1"
      : /down/.test(name)
        ? "Q6_K"
        : /output/.test(name)
          ? "F16"
          : "Q4_K";
  const file = made("llama", kWide, kWideShapes, typeOf);
  const floats = await AutoModelForCausalLM.fromPretrained(asFloats(kWide, file));
  const model = await AutoModelForCausalLM.fromPretrained(file.bytes);
  const scores = floats.call(row(file.ids)).logits.arraySync();
  assert.ok(distance(model.call(row(file.ids)).logits, scores) < kMost.Q6_K);
});

for (const [type, dtype] of [
  ["F16", "float16"],
  ["BF16", "bfloat16"],
]) {
  test(`matrices of ${type} stay so, and become what is asked for`, async () => {
    const file = made("llama", kWide, kWideShapes, () => type);
    const model = await AutoModelForCausalLM.fromPretrained(file.bytes);
    assert.ok(model.parameters().every((one) => one.dtype === dtype));
    const floats = await AutoModelForCausalLM.fromPretrained(file.bytes, { dtype: "float32" });
    assert.deepEqual(floats.getParameter("lm_head.weight").flatten().arraySync(), [
      ...Float32Array.from(file.written["output.weight"].numbers),
    ]);
    const few = await AutoModelForCausalLM.fromPretrained(file.bytes, { quantization: "int8" });
    const scores = floats.call(row(file.ids)).logits.arraySync();
    assert.ok(distance(few.call(row(file.ids)).logits.float(), scores) < 0.1);
  });
}

test("the factors of rotary positions are read", async () => {
  const { config, shapes, logits } = kDecoders["llama 3, new positions"];
  const { arrays } = drawnWeights(shapes);
  // Those of the frequencies of this config, by its formula.
  const { factor, low_freq_factor: low, high_freq_factor: high } = config.rope_scaling;
  const length = config.rope_scaling.original_max_position_embeddings;
  const factors = [0, 1].map((i) => {
    const wave = 2 * Math.PI * 500 ** (i / 2);
    if (wave > length / low) return factor;
    if (wave < length / high) return 1;
    const smooth = (length / wave - low) / (high - low);
    return 1 / ((1 - smooth) / factor + smooth);
  });
  const freqs = {
    type: "F32",
    shape: [2],
    bytes: new Uint8Array(Float32Array.from(factors).buffer),
  };
  const { bytes, ids } = made("llama", config, shapes, undefined, {
    tensors: { "rope_freqs.weight": freqs },
  });
  const model = await AutoModelForCausalLM.fromPretrained(bytes);
  assert.ok(distance(model.call(row(ids)).logits, logits(arrays, ids)) < 2e-5);
});

test("a file is an address, a path, a File, bytes, or in a folder", async () => {
  const { config, shapes } = kDecoders.llama;
  const { bytes, ids } = made("llama", config, shapes);
  const first = (await AutoModelForCausalLM.fromPretrained(bytes))
    .call(row(ids))
    .logits.arraySync();
  const path = mkdtempSync(join(tmpdir(), "gguf-"));
  const server = await serveRanges({ "model.gguf": bytes });
  try {
    writeFileSync(join(path, "model.gguf"), bytes);
    const sources = [
      [join(path, "model.gguf")],
      [path, { ggufFile: "model.gguf" }],
      [`${server.url}model.gguf`],
      [new URL(`${server.url}model.gguf?download=true`)],
      [new File([bytes], "model.gguf")],
      [new Blob([bytes])],
      [{ "model.gguf": new Blob([bytes]) }],
      [{ "model.gguf": bytes, "other.gguf": bytes }, { ggufFile: "other.gguf" }],
    ];
    for (const [source, options] of sources) {
      const last = new Map();
      const onProgress = ({ name, loaded, total }) => last.set(name, [loaded, total]);
      const model = await AutoModelForCausalLM.fromPretrained(source, { ...options, onProgress });
      assert.deepEqual(model.call(row(ids)).logits.arraySync(), first);
      assert.equal(last.size, Object.keys(shapes).length);
      for (const [name, [loaded, total]] of last) assert.equal(loaded, total, name);
    }
    const lost = AutoModelForCausalLM.fromPretrained(path, { ggufFile: "other.gguf" });
    await assert.rejects(lost, /there is no other\.gguf in the folder/);
  } finally {
    server.stop();
    rmSync(path, { recursive: true });
  }
});

test("what ends a text is in the metadata", async () => {
  const { config, shapes } = kDecoders.llama;
  const tokens = { bos: 1, eos: 2, eot: 3, padding: 0 };
  const metadata = Object.fromEntries(
    Object.entries(tokens).map(([name, id]) => [`tokenizer.ggml.${name}_token_id`, id]),
  );
  const { bytes } = made("llama", config, shapes, undefined, { metadata });
  const model = await AutoModelForCausalLM.fromPretrained(bytes);
  assert.deepEqual(model.generationConfig, {
    bos_token_id: 1,
    pad_token_id: 0,
    eos_token_id: [2, 3],
  });
});

describe("refused with a reason are", () => {
  const { config, shapes } = kDecoders.llama;
  const { bytes, written } = made("llama", config, shapes);
  const metadata = ggufMetadata("llama", config);
  const refused = (file, message) =>
    assert.rejects(AutoModelForCausalLM.fromPretrained(file), (error) => {
      assert.ok(["InvalidArgument", "ShapeMismatch"].includes(error.code), error.stack);
      assert.match(error.message, message);
      return true;
    });
  const changed = (at, ...values) => {
    const copy = bytes.slice();
    copy.set(values, at);
    return copy;
  };
  const huge = new Array(8).fill(255);

  test("other files, versions and byte orders", async () => {
    await refused(new Uint8Array(100), /begins with .*not "GGUF"/);
    await refused(changed(4, 1), /version 1 .*versions 2 and 3/);
    await refused(changed(4, 0, 0, 0, 3), /big-endian/);
    const second = ggufFile({ metadata, tensors: written, version: 2 });
    assert.ok(await AutoModelForCausalLM.fromPretrained(second));
  });

  test("impossible counts, lengths and sizes", async () => {
    await refused(changed(8, ...huge), /cannot have \d+ tensors/);
    await refused(changed(16, ...huge), /cannot have \d+ pairs/);
    await refused(changed(24, ...huge), /bytes of a string/);
    const list = { list: "uint32", values: [] };
    const [key, after] = ["a.list", 8 + 6 + 4 + 4];
    const withList = ggufFile({ metadata: { [key]: list } });
    withList.set(huge, 24 + after);
    await refused(withList, /numbers of a list/);
    const tensors = {
      "token_embd.weight": { type: "F32", shape: [2 ** 20, 2 ** 20], bytes: new Uint8Array(4) },
    };
    await refused(ggufFile({ metadata, tensors: { ...written, ...tensors } }), /would end at byte/);
    const beyond = {
      "output_norm.weight": { type: "F32", shape: [2 ** 40, 2 ** 40], bytes: new Uint8Array(4) },
    };
    await refused(ggufFile({ metadata, tensors: { ...written, ...beyond } }), /impossible shape/);
    const blocks = { ...metadata, "llama.block_count": 4_000_000_000 };
    await refused(ggufFile({ metadata: blocks, tensors: written }), /blocks need more tensors/);
  });

  test("a file that ends early, at any byte of its header", async () => {
    for (let end = 0; end < 700; end += 37) {
      await refused(bytes.slice(0, end), /ends at byte|cannot have|begins with|would end/);
    }
    await refused(bytes.slice(0, bytes.length - 100), /would end at byte/);
  });

  test("types, architectures and parts that are not implemented", async () => {
    const odd = { ...written["output.weight"], type: 16 };
    await refused(
      ggufFile({ metadata, tensors: { ...written, "output.weight": odd } }),
      /IQ2_XXS.*Q4_K/,
    );
    const unknown = { ...written["output.weight"], type: 99 };
    await refused(
      ggufFile({ metadata, tensors: { ...written, "output.weight": unknown } }),
      /type 99/,
    );
    const uneven = { type: "Q4_0", shape: [19, 16], bytes: new Uint8Array(19 * 18) };
    await refused(
      ggufFile({ metadata, tensors: { ...written, "output.weight": uneven } }),
      /no blocks of 32/,
    );
    const of = (own) => ggufFile({ metadata: { ...metadata, ...own }, tensors: written });
    await refused(of({ "general.architecture": "mamba" }), /"mamba".*may be .*llama/);
    await refused(of({ "split.count": 3 }), /one of 3 parts/);
    await refused(of({ "general.type": "adapter" }), /general\.type is "adapter"/);
    await refused(of({ "llama.expert_count": 8 }), /experts/);
    await refused(of({ "llama.attention.head_count": "x" }), /head_count: expected a number/);
  });

  test("tensors of other shapes", async () => {
    const shape = { type: "F32", shape: [3, 4], bytes: new Uint8Array(48) };
    const tensors = { ...written, "blk.0.ffn_up.weight": shape };
    await refused(ggufFile({ metadata, tensors }), /up_proj/);
    const coded = { type: "Q4_0", shape: [4, 32], bytes: new Uint8Array(4 * 18) };
    await refused(
      ggufFile({ metadata, tensors: { ...written, "blk.0.ffn_up.weight": coded } }),
      /up_proj\.weight: expected \[20, 16\], got \[4, 32\]/,
    );
  });
});
