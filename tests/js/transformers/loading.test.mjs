// fromPretrained(): where files come from, what they may be called, and what is refused.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import {
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForSequenceClassification,
  supportedModels,
} from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";
import { kDecoders } from "../support/plain_decoders.mjs";
import { kMaskedModels, kTextClassifiers } from "../support/plain_encoders.mjs";
import { drawWeights, filesOf, idsOf } from "../support/pretrained.mjs";
import { serveRanges } from "../support/ranges_server.mjs";

const { config, shapes } = kDecoders.llama;
const { tensors } = drawWeights(shapes);
const kFiles = filesOf(config, tensors);
const kIds = eg.tensor([idsOf(5, config.vocab_size)], { dtype: "int64" });
const scores = (model) => model.call(kIds).logits;
const kScores = scores(await AutoModelForCausalLM.fromPretrained(kFiles));
const close = (model) => eg.testing.assertClose(scores(model), kScores, { rtol: 1e-5, atol: 1e-5 });
const open = (files, options) => AutoModelForCausalLM.fromPretrained(files, options);
const bytes = (value) => (typeof value === "string" ? new TextEncoder().encode(value) : value);

async function refuses(promise, code, pattern) {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof eg.EdgeGradError, error?.stack ?? String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, pattern);
    return true;
  });
}

// The same weights in two files with an index.
function sharded() {
  const names = Object.keys(tensors);
  const part = (from, to) =>
    Object.fromEntries(names.slice(from, to).map((name) => [name, tensors[name]]));
  const half = Math.floor(names.length / 2);
  const fileOf = (i) => `model-0000${i < half ? 1 : 2}-of-00002.safetensors`;
  return {
    "config.json": JSON.stringify(config),
    "model.safetensors.index.json": JSON.stringify({
      metadata: {},
      weight_map: Object.fromEntries(names.map((name, i) => [name, fileOf(i)])),
    }),
    [fileOf(0)]: eg.io.saveSafetensors(part(0, half)),
    [fileOf(half)]: eg.io.saveSafetensors(part(half)),
  };
}

function folderOf(files) {
  const folder = mkdtempSync(join(tmpdir(), "pretrained-"));
  after(() => rmSync(folder, { recursive: true }));
  for (const [name, data] of Object.entries(files)) writeFileSync(join(folder, name), data);
  return folder;
}

function directoryOf(files) {
  return {
    kind: "directory",
    async *entries() {
      yield ["onnx", { kind: "directory" }];
      for (const [name, data] of Object.entries(files)) {
        yield [name, { kind: "file", getFile: async () => new Blob([data]) }];
      }
    },
  };
}

describe("models come from", () => {
  for (const [kind, files] of [
    ["one file", kFiles],
    ["several files with an index", sharded()],
  ]) {
    test(`${kind}: bytes, Blobs, a path, an address and a directory of a page`, async () => {
      close(await open(files));
      const blobs = Object.entries(files).map(([name, data]) => [name, new Blob([data])]);
      close(await open(Object.fromEntries(blobs)));
      const folder = folderOf(files);
      close(await open(folder));
      close(await open(`${folder}/`));
      const data = Object.entries(files).map(([name, one]) => [name, bytes(one)]);
      const { url, stop } = await serveRanges(
        Object.fromEntries(data.map(([name, one]) => [`a/${name}`, one])),
      );
      try {
        close(await open(`${url}a`));
        close(await open(new URL(`${url}a/`)));
        await refuses(open(`${url}b`), "InvalidArgument", /there is no config\.json/);
      } finally {
        stop();
      }
      close(await open(directoryOf(files)));
    });
  }

  test("files in half precision, as such or as another dtype", async () => {
    const halves = Object.fromEntries(
      Object.entries(tensors).map(([name, one]) => [name, one.bfloat16()]),
    );
    const files = filesOf({ ...config, torch_dtype: "bfloat16" }, halves);
    const model = await open(files);
    assert.equal(model.dtype, "bfloat16");
    assert.equal(scores(model).dtype, "bfloat16");
    const full = await open(files, { dtype: "float32" });
    eg.testing.assertClose(scores(model).float(), scores(full), { rtol: 0.1, atol: 0.3 });
    const saved = await full.savePretrained();
    assert.equal(JSON.parse(new TextDecoder().decode(saved["config.json"])).torch_dtype, "float32");
    const half = await open(kFiles, { dtype: "float16" });
    assert.equal(
      eg.io.loadSafetensors((await half.savePretrained())["model.safetensors"])["model.norm.weight"]
        .dtype,
      "float16",
    );
  });

  test("files that say how far they have been read", async () => {
    const seen = new Set();
    await open(kFiles, {
      onProgress: ({ name, loaded, total }) => loaded === total && seen.add(name),
    });
    assert.deepEqual([...seen].sort(), Object.keys(tensors).sort());
  });
});

describe("names of tensors", () => {
  test("without the part that all tasks have, and with buffers that are computed", async () => {
    const { config: own, shapes: all } = kDecoders.gpt2;
    const weights = drawWeights(all).tensors;
    const usual = await open(filesOf(own, weights));
    const short = Object.fromEntries(
      Object.entries(weights).map(([name, one]) => [name.replace(/^transformer\./, ""), one]),
    );
    short["h.0.attn.bias"] = eg.ones([1, 1, 24, 24]).tril();
    short["h.0.attn.masked_bias"] = eg.tensor(-1e9);
    const model = await open(filesOf(own, short));
    eg.testing.assertClose(scores(model), scores(usual));
    const saved = eg.io.loadSafetensors((await model.savePretrained())["model.safetensors"]);
    assert.deepEqual(Object.keys(saved).sort(), Object.keys(short).sort());
    for (const name of Object.keys(short)) eg.testing.assertClose(saved[name], short[name]);
  });

  test("of older files, and of frequencies that are not read", async () => {
    const { config: own, shapes: all } = kTextClassifiers.bert;
    const weights = drawWeights(all).tensors;
    const old = Object.fromEntries(
      Object.entries(weights).map(([name, one]) => [
        name
          .replace("LayerNorm.weight", "LayerNorm.gamma")
          .replace("LayerNorm.bias", "LayerNorm.beta"),
        one,
      ]),
    );
    old["bert.embeddings.position_ids"] = eg.arange(16, { dtype: "int64" }).unsqueeze(0);
    const load = (files) => AutoModelForSequenceClassification.fromPretrained(files);
    const model = await load(filesOf(own, old));
    eg.testing.assertClose(scores(model), scores(await load(filesOf(own, weights))));
    const saved = eg.io.loadSafetensors((await model.savePretrained())["model.safetensors"]);
    assert.deepEqual(Object.keys(saved).sort(), Object.keys(old).sort());
    assert.deepEqual(saved["bert.embeddings.position_ids"].arraySync(), [
      Array.from({ length: 16 }, (_, i) => i),
    ]);
    const more = { ...tensors, "model.layers.0.self_attn.rotary_emb.inv_freq": eg.ones([2]) };
    close(await open(filesOf(config, more)));
  });

  test("of a head that is missing: it is new, and a warning says so", async (t) => {
    const warn = t.mock.method(console, "warn", () => {});
    const { config: own, shapes: all } = kTextClassifiers.bert;
    const weights = drawWeights(all).tensors;
    const body = Object.fromEntries(
      Object.entries(weights).filter(([name]) => !name.startsWith("classifier")),
    );
    const files = filesOf(own, { ...body, "cls.predictions.bias": eg.ones([2]) });
    const model = await AutoModelForSequenceClassification.fromPretrained(files, { numLabels: 5 });
    assert.deepEqual(scores(model).shape, [1, 5]);
    const texts = warn.mock.calls.map(({ arguments: [text] }) => text);
    assert.match(texts[0], /no weights for classifier\.weight, classifier\.bias: these are new/);
    assert.match(texts[1], /does not use these tensors of the file: cls\.predictions\.bias/);
    const saved = await model.savePretrained();
    const again = await AutoModelForSequenceClassification.fromPretrained(saved);
    eg.testing.assertClose(scores(again), scores(model));
  });
});

describe("refusals", () => {
  const withConfig = (values) => ({
    ...kFiles,
    "config.json": JSON.stringify({ ...config, ...values }),
  });

  test("of keys of config.json that would change results", async () => {
    for (const [values, pattern] of [
      [
        { model_type: "mamba" },
        /model_type is "mamba", which is not implemented; it may be bert, clip/,
      ],
      [{ hidden_act: "mish" }, /hidden_act is "mish", which is not implemented/],
      [
        { rope_scaling: { type: "proportional", factor: 2 } },
        /rope_scaling\.type is "proportional"/,
      ],
      [
        { rope_scaling: { type: "longrope", factor: 2, short_factor: [1] } },
        /rope_scaling\.short_factor: expected \d+ numbers above 0, got/,
      ],
      [
        { rope_scaling: { rope_type: "linear", factor: 2, short_factor: [1] } },
        /rope_scaling\.short_factor/,
      ],
      [
        { rope_scaling: { rope_type: "linear" } },
        /rope_scaling\.factor: expected a number, it is missing/,
      ],
      [{ attention_bias: 1 }, /attention_bias: expected true or false, got 1/],
      [{ quantization_config: { bits: 4 } }, /quant_method: expected a string, it is missing/],
      [{ quantization_config: { quant_method: "awq" } }, /the file has no such matrices/],
      [{ num_experts: 8 }, /does not implement: num_experts \(8\)/],
      [{ num_key_value_heads: 3 }, /not a multiple of num_key_value_heads/],
      [{ hidden_size: undefined }, /hidden_size: expected a whole number from 1, it is missing/],
      [{ hidden_size: 2 ** 40 }, /hidden_size: expected a whole number from 1/],
    ]) {
      await refuses(open(withConfig(values)), "InvalidArgument", pattern);
    }
    for (const [name, values, pattern] of [
      [
        "bert",
        { position_embedding_type: "relative_key" },
        /position_embedding_type is "relative_key"/,
      ],
      ["bert", { is_decoder: true }, /is_decoder is true/],
      ["bert", { pruned_heads: { 0: [1] } }, /pruned_heads/],
    ]) {
      const { config: own, shapes: all } = kTextClassifiers[name];
      const files = filesOf({ ...own, ...values }, drawWeights(all).tensors);
      await refuses(
        AutoModelForSequenceClassification.fromPretrained(files),
        "InvalidArgument",
        pattern,
      );
    }
    close(await open(withConfig({ num_experts: null, use_moe: false, num_experts_: {} })));
    close(await open(withConfig({ num_experts: 8 }), { ignoreConfigKeys: ["num_experts"] }));
  });

  test("of files that are missing or damaged, and do not fit", async () => {
    const weights = (changed) => filesOf(config, { ...tensors, ...changed });
    const { "model.norm.weight": _, ...without } = tensors;
    for (const [files, code, pattern] of [
      [{}, "InvalidArgument", /there is no config\.json/],
      [{ "config.json": "{" }, "InvalidArgument", /config\.json is not JSON/],
      [{ "config.json": "[]" }, "InvalidArgument", /config\.json is not an object/],
      [
        { "config.json": kFiles["config.json"] },
        "InvalidArgument",
        /neither a model\.safetensors nor/,
      ],
      [{ ...kFiles, "model.safetensors": new Uint8Array(20) }, "InvalidArgument", /invalid file/],
      [filesOf(config, without), "InvalidArgument", /no tensors for model\.norm\.weight/],
      [weights({ "model.norm.weight": eg.ones([3]) }), "ShapeMismatch", /model\.norm\.weight/],
      [7, "InvalidArgument", /a folder's path or address, a FileSystemDirectoryHandle/],
      [join(tmpdir(), "no such folder"), "InvalidArgument", /there is no config\.json/],
    ]) {
      await refuses(open(files), code, pattern);
    }
  });

  test("of options, tasks and inputs", async () => {
    await refuses(
      open(kFiles, { dType: "float32" }),
      "InvalidArgument",
      /unknown option "dType"; the options are device/,
    );
    await refuses(
      open(kFiles, { quantization: "int2" }),
      "InvalidArgument",
      /quantization: expected "int8"/,
    );
    await refuses(open(kFiles, { dtype: "float" }), "InvalidArgument", /dtype/);
    const images = AutoModelForImageClassification.fromPretrained(kFiles);
    await refuses(
      images,
      "InvalidArgument",
      /"llama" are not for the task "image classification"; they are for features/,
    );
    const model = await open(kFiles);
    const throws = (input, options, code, pattern) =>
      assert.throws(
        () => model.call(input, options),
        (error) => error.code === code && pattern.test(error.message),
      );
    throws([[1, 2]], {}, "InvalidArgument", /expected a tensor of token numbers/);
    throws(kIds.float(), {}, "DtypeMismatch", /token numbers as int64, got float32/);
    throws(kIds.at(0), {}, "ShapeMismatch", /ids\.unsqueeze\(0\)/);
    throws(kIds, { attention_mask: kIds }, "InvalidArgument", /unknown option "attention_mask"/);
    throws(
      kIds,
      { attentionMask: eg.ones([1, 4]) },
      "ShapeMismatch",
      /expected the shape \[1, 5\], got \[1, 4\]/,
    );
    throws(kIds, { labels: eg.ones([1, 4], { dtype: "int64" }) }, "ShapeMismatch", /labels/);
    throws(kIds, { useCache: true }, "InvalidArgument", /a cache has no gradients/);
    assert.equal(eg.noGrad(() => model.call(kIds, { useCache: true })).pastKeyValues.length, 5);
  });
});

test("a model's copy is a model of its own", async () => {
  const model = await open(kFiles);
  const copy = model.clone();
  close(copy);
  eg.noGrad(() => {
    for (const one of model.parameters()) one.zero_();
  });
  close(copy);
  assert.deepEqual(Object.keys(await copy.savePretrained()), ["config.json", "model.safetensors"]);
});

test("models without a head share their files", async (t) => {
  t.mock.method(console, "warn", () => {});
  const features = await AutoModel.fromPretrained(kFiles);
  const { lastHiddenState } = (await open(kFiles)).call(kIds);
  eg.testing.assertClose(features.call(kIds).lastHiddenState, lastHiddenState);
  assert.ok(supportedModels().includes("llama"));
});

describe("the number of tokens", () => {
  for (const [name, auto, { config: own, shapes: all }, words] of [
    ["tied", AutoModelForCausalLM, kDecoders["llama, tied"], "model.embed_tokens.weight"],
    ["not tied", AutoModelForCausalLM, kDecoders.llama, "model.embed_tokens.weight"],
    [
      "with a bias",
      AutoModelForMaskedLM,
      kMaskedModels.bert,
      "bert.embeddings.word_embeddings.weight",
    ],
    [
      "without a head",
      AutoModelForSequenceClassification,
      kTextClassifiers.bert,
      "bert.embeddings.word_embeddings.weight",
    ],
  ]) {
    test(`of a model grows and shrinks: ${name}`, async () => {
      const files = filesOf(own, drawWeights(all).tensors);
      const before = await auto.fromPretrained(files);
      const model = await auto.fromPretrained(files);
      const count = own.vocab_size;
      await model.resizeTokenEmbeddings(count + 3);
      const table = model.getParameter(words);
      assert.deepEqual(table.shape[0], count + 3);
      eg.testing.assertClose(table.at(count + 1), before.getParameter(words).mean(0));
      assert.equal(model.parameters().length, before.parameters().length);
      const wanted = before.call(kIds).logits;
      const { logits } = model.call(kIds);
      const isHead = logits.ndim === 3;
      eg.testing.assertClose(isHead ? logits.narrow(2, 0, count) : logits, wanted);
      const newer = eg.tensor([[1, count + 2]], { dtype: "int64" });
      if (isHead) assert.deepEqual(model.call(newer).logits.shape, [1, 2, count + 3]);
      const again = await auto.fromPretrained(await model.savePretrained());
      eg.testing.assertClose(again.call(newer).logits, model.call(newer).logits);
      await model.resizeTokenEmbeddings(count);
      eg.testing.assertClose(model.call(kIds).logits, wanted);
    });
  }

  test("of a quantized model stays", async () => {
    const model = await open(
      filesOf(
        kDecoders["llama, tied"].config,
        drawWeights(kDecoders["llama, tied"].shapes).tensors,
      ),
      { quantization: "int8" },
    );
    await refuses(model.resizeTokenEmbeddings(30), "InvalidArgument", /no table of 19 words/);
    await refuses(
      model.resizeTokenEmbeddings(0),
      "InvalidArgument",
      /count: expected a whole number from 1/,
    );
  });
});
