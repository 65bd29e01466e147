// generate(): how tokens are chosen, when texts end, and who hears of it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AutoModelForCausalLM, KeyValueCache } from "edgegrad/transformers";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";
import { kDecoders } from "../support/plain_decoders.mjs";
import { drawWeights, filesOf } from "../support/pretrained.mjs";

const { config, shapes, logits } = kDecoders.llama;
const { tensors, arrays } = drawWeights(shapes);
const model = await AutoModelForCausalLM.fromPretrained(filesOf(config, tensors));
const ids = (lists) => eg.tensor(lists, { dtype: "int64" });
const kPrompt = [3, 7, 1];
const write = async (options, prompt = [kPrompt]) =>
  (await model.generate(ids(prompt), { eosTokenId: null, ...options })).arraySync();

const probabilities = (scores) => {
  const powers = scores.map((one) => Math.exp(one - Math.max(...scores)));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((one) => one / sum);
};

// The shares of tokens that follow the prompt, over many draws at once.
async function shares(options) {
  const many = await write(
    { maxNewTokens: 1, doSample: true, ...options },
    new Array(4000).fill(kPrompt),
  );
  const counts = new Array(config.vocab_size).fill(0);
  for (const row of many) counts[row.at(-1)] += 1 / many.length;
  return counts;
}

function assertShares(own, wanted) {
  wanted.forEach((share, i) => {
    // Of a token that is hardly ever drawn, one or two draws are not unlikely.
    const spread = 5 * Math.sqrt((share * (1 - share)) / 4000) + 2 / 4000;
    assert.ok(Math.abs(own[i] - share) <= spread, `token ${i}: ${own[i]} for ${share}`);
  });
}

const kNext = logits(arrays, kPrompt).at(-1);
const byRank = kNext
  .map((score, i) => [score, i])
  .sort(([a], [b]) => b - a)
  .map(([, i]) => i);
const only = (tokens, scores = kNext) =>
  probabilities(scores.map((one, i) => (tokens.includes(i) ? one : -Infinity)));

describe("tokens are chosen", () => {
  test("by their probability", async () => assertShares(await shares({}), probabilities(kNext)));

  test("by their probability at a temperature", async () => {
    assertShares(await shares({ temperature: 3 }), probabilities(kNext.map((one) => one / 3)));
  });

  test("among the likeliest", async () =>
    assertShares(await shares({ topK: 3 }), only(byRank.slice(0, 3))));

  test("among those that have a share of the probability", async () => {
    const sorted = byRank.map((i) => probabilities(kNext)[i]);
    const together = sorted.map((_, i) => sorted.slice(0, i + 1).reduce((a, b) => a + b));
    const count = together.findIndex((one) => one >= 0.8) + 1;
    assertShares(await shares({ topP: 0.8 }), only(byRank.slice(0, count)));
    const one = await shares({ topP: 1e-6 });
    assert.ok(Math.abs(one[byRank[0]] - 1) < 1e-9);
  });

  test("with a penalty for those that have occurred", async () => {
    const scores = kNext.map((one, i) =>
      kPrompt.includes(i) ? (one < 0 ? one * 3 : one / 3) : one,
    );
    assertShares(await shares({ repetitionPenalty: 3 }), probabilities(scores));
  });

  test("without those that are suppressed", async () => {
    const [row] = await write({ maxNewTokens: 1, suppressTokens: [byRank[0]] });
    assert.equal(row.at(-1), byRank[1]);
  });

  test("by the numbers of a seed, global or of a generator", async () => {
    const options = { maxNewTokens: 8, doSample: true };
    eg.manualSeed(5);
    const first = await write(options);
    eg.manualSeed(5);
    assert.deepEqual(await write(options), first);
    const own = await write({ ...options, generator: new eg.Generator(5) });
    assert.deepEqual(own, first);
  });
});

describe("texts", () => {
  test("end with a token that ends them, and are then filled up", async () => {
    const prompts = [kPrompt, [5, 5, 2]];
    const free = await write({ maxNewTokens: 6 }, prompts);
    const [end] = free[0].slice(4, 5);
    const cut = free.map((row) => {
      const at = row.indexOf(end, 3);
      return row.map((one, i) => (at >= 0 && i > at ? 9 : one));
    });
    const longest = Math.max(...cut.map((row) => row.findLastIndex((one) => one !== 9) + 1));
    const own = await write({ maxNewTokens: 6, eosTokenId: [end], padTokenId: 9 }, prompts);
    assert.deepEqual(
      own,
      cut.map((row) => row.slice(0, longest)),
    );
    const files = filesOf(config, tensors, {
      "generation_config.json": `{ "eos_token_id": ${end} }`,
    });
    const said = await AutoModelForCausalLM.fromPretrained(files);
    assert.deepEqual((await said.generate(ids([kPrompt]), { maxNewTokens: 6 })).arraySync(), [
      free[0].slice(0, free[0].indexOf(end, 3) + 1),
    ]);
  });

  test("of different lengths continue as each alone", async () => {
    const alone = [
      await write({ maxNewTokens: 5 }, [[4, 8]]),
      await write({ maxNewTokens: 5 }, [kPrompt]),
    ];
    const attentionMask = eg.tensor([
      [0, 1, 1],
      [1, 1, 1],
    ]);
    const together = await write({ maxNewTokens: 5, attentionMask }, [[0, 4, 8], kPrompt]);
    assert.deepEqual(together, [[0, ...alone[0][0]], alone[1][0]]);
    const right = eg.tensor([[1, 1, 0]]);
    await assert.rejects(write({ attentionMask: right }), /pad on the left/);
  });

  test("are passed on while they are written", async () => {
    const parts = [];
    let ended = 0;
    const streamer = { put: (tokens) => parts.push(tokens), end: () => ended++ };
    const [text] = await write({ maxNewTokens: 3, streamer });
    assert.deepEqual(parts, [[kPrompt], ...text.slice(3).map((one) => [[one]])]);
    assert.equal(ended, 1);
  });

  test("stop when a signal says so", async () => {
    const controller = new AbortController();
    let count = 0;
    const streamer = { put: () => count++ === 2 && controller.abort(new Error("enough")) };
    const stopped = write({ maxNewTokens: 50, streamer, signal: controller.signal });
    await assert.rejects(stopped, /enough/);
    assert.ok(count <= 4);
    await assert.rejects(write({ signal: AbortSignal.abort() }), { name: "AbortError" });
    const wrong = { signal: { aborted: true } };
    await assert.rejects(write(wrong), /signal: expected an AbortSignal/);
    assert.equal((await write({ maxNewTokens: 2 }))[0].length, 5);
  });

  test("are written in evaluation mode, and leave modes and memory as they were", async () => {
    await write({ maxNewTokens: 4 });
    model.train();
    await collectGarbage();
    const { storages } = eg.memory();
    await write({ maxNewTokens: 4 });
    assert.ok(model.modules().every(({ training }) => training));
    model.eval();
    await collectGarbage();
    assert.ok(eg.memory().storages <= storages, `${eg.memory().storages} for ${storages}`);
  });

  test("refuse options that make no sense", async () => {
    for (const [options, pattern] of [
      [{ maxLength: 4 }, /unknown option "maxLength"; the options are maxNewTokens/],
      [{ maxNewTokens: 0 }, /maxNewTokens: expected a whole number from 1/],
      [{ temperature: 0 }, /temperature: expected a number above 0/],
      [{ topP: 2 }, /topP/],
      [{ eosTokenId: "end" }, /eosTokenId: expected a token/],
      [{ streamer: {} }, /streamer: expected an object with put/],
    ]) {
      await assert.rejects(model.generate(ids([kPrompt]), options), pattern);
    }
  });
});

describe("a cache", () => {
  const read = (list, pastKeyValues) =>
    eg.noGrad(() => model.call(ids([list]), { pastKeyValues }).logits);

  test("grows, and forgets what is cut off", () => {
    const cache = new KeyValueCache(2);
    read([1, 2, 3], cache);
    assert.deepEqual([cache.length, cache.capacity], [3, 4]);
    const next = read([4, 5], cache);
    cache.crop(3);
    eg.testing.assertClose(read([4, 5], cache), next);
    assert.throws(() => cache.crop(9), /from 0 to 5/);
    assert.throws(
      () => eg.noGrad(() => model.call(ids([[1], [2]]), { pastKeyValues: cache })),
      /a batch of 1/,
    );
    cache.dispose();
    assert.equal(cache.length, 0);
  });

  test("is written in place: a token costs no copy of those before", () => {
    const cache = new KeyValueCache(64);
    const [keys] = eg.noGrad(() => cache.append(0, eg.ones([1, 2, 3, 4]), eg.ones([1, 2, 3, 4])));
    const [more] = eg.noGrad(() => cache.append(0, eg.zeros([1, 2, 1, 4]), eg.zeros([1, 2, 1, 4])));
    assert.ok(keys.isView && more.isView);
    assert.deepEqual(more.strides, [2 * 64 * 4, 64 * 4, 4, 1]);
    eg.noGrad(() => keys.fill_(7));
    assert.equal(more.at(0, 0, 0, 0).item(), 7);
  });
});
