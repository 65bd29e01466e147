// generate(): how tokens are chosen, when texts end, and who hears of it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AutoModelForCausalLM, KeyValueCache } from "edgegrad/transformers";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";
import { kDecoders } from "../support/plain_decoders.mjs";
import { range } from "../support/plain_layers.mjs";
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

  test("among those that are not much less likely than the best one", async () => {
    const all = probabilities(kNext);
    const kept = byRank.filter((i) => all[i] >= 0.3 * all[byRank[0]]);
    assert.ok(kept.length > 1 && kept.length < byRank.length);
    assertShares(await shares({ minP: 0.3 }), only(kept));
  });

  test("so that no sequence repeats", async () => {
    const text = (await write({ maxNewTokens: 30, noRepeatNgramSize: 2 }))[0];
    const pairs = text.slice(1).map((one, i) => `${text[i]} ${one}`);
    assert.equal(new Set(pairs).size, pairs.length);
    const free = (await write({ maxNewTokens: 30 }))[0];
    assert.ok(new Set(free.slice(1).map((one, i) => `${free[i]} ${one}`)).size < free.length - 1);
    const once = (await write({ maxNewTokens: 10, noRepeatNgramSize: 1 }))[0];
    assert.equal(new Set(once).size, once.length);
  });

  test("as functions of the program change the scores", async () => {
    const seen = [];
    const onlyThird = (scores, tokens) => {
      seen.push(structuredClone(tokens));
      return scores.indexFill(1, ids([byRank.filter((_, i) => i !== 2)]).at(0), -Infinity);
    };
    const [row] = await write({ maxNewTokens: 1, logitsProcessors: [onlyThird] });
    assert.equal(row.at(-1), byRank[2]);
    assert.deepEqual(seen, [[kPrompt]]);
    const wrong = { logitsProcessors: [(scores) => scores.sum()] };
    await assert.rejects(write(wrong), /expected scores of the shape \[1, 19\], got \[\]/);
  });

  test("several times for a text", async () => {
    const options = { doSample: true, maxNewTokens: 4, numReturnSequences: 3 };
    const rows = await write(options, [kPrompt, [4, 8, 2]]);
    assert.deepEqual(
      rows.map((row) => row.slice(0, 3)),
      [kPrompt, kPrompt, kPrompt, [4, 8, 2], [4, 8, 2], [4, 8, 2]],
    );
    await assert.rejects(write({ numReturnSequences: 2 }), /need doSample or numBeams/);
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

  test("stop at strings, and when a function says so", async () => {
    const [free] = await write({ maxNewTokens: 8 });
    // A letter for each token.
    const decode = (tokens) => tokens.map((one) => String.fromCharCode(97 + one)).join("");
    const stop = decode(free.slice(4, 6));
    const at = 3 + decode(free.slice(3)).indexOf(stop) + 2;
    const options = { maxNewTokens: 8, stopStrings: ["ZZ", stop], tokenizer: { decode } };
    assert.deepEqual(await write(options), [free.slice(0, at)]);
    await assert.rejects(write({ stopStrings: "a" }), /pass the option tokenizer/);
    const ends = (tokens) => tokens.map((row) => row.length === 6);
    const stopped = await write({ maxNewTokens: 8, stoppingCriteria: ends });
    assert.deepEqual(stopped, [free.slice(0, 6)]);
    const all = await write({ maxNewTokens: 8, stoppingCriteria: async () => true });
    assert.deepEqual(all, [free.slice(0, 4)]);
  });

  test("are not shorter than they shall be", async () => {
    const [free] = await write({ maxNewTokens: 8 });
    const eosTokenId = free[3];
    assert.equal((await write({ maxNewTokens: 8, eosTokenId }))[0].length, 4);
    const [longer] = await write({ maxNewTokens: 8, minNewTokens: 3, eosTokenId });
    assert.ok(longer.length > 6 && !longer.slice(3, 6).includes(eosTokenId));
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

  test("are written in evaluation mode when several are at once", async () => {
    const { tensors: own } = drawWeights(kDecoders.gpt2.shapes);
    const values = { ...kDecoders.gpt2.config, resid_pdrop: 0.9, embd_pdrop: 0.9 };
    const dropping = await AutoModelForCausalLM.fromPretrained(filesOf(values, own));
    const all = (count) =>
      dropping.generate(ids([kPrompt]), { maxNewTokens: count, eosTokenId: null });
    const alone = (await all(12)).arraySync();
    dropping.train();
    const [, long] = await Promise.all([all(2), all(12)]);
    assert.deepEqual(long.arraySync(), alone);
    assert.ok(dropping.modules().every(({ training }) => training));
  });

  test("follow generation_config.json, unless a program says otherwise", async () => {
    const said = async (values, options) => {
      const files = filesOf(config, tensors, { "generation_config.json": JSON.stringify(values) });
      const own = await AutoModelForCausalLM.fromPretrained(files);
      return (await own.generate(ids([kPrompt]), options)).arraySync()[0];
    };
    const plain = (options) => write(options).then(([row]) => row);
    assert.deepEqual(await said({ max_new_tokens: 7 }), await plain({ maxNewTokens: 7 }));
    assert.deepEqual(await said({ max_length: 7 }), await plain({ maxNewTokens: 4 }));
    const penalty = { repetition_penalty: 3, max_new_tokens: 9 };
    const repetitionPenalty = 3;
    assert.deepEqual(await said(penalty), await plain({ repetitionPenalty, maxNewTokens: 9 }));
    assert.deepEqual(
      await said(penalty, { repetitionPenalty: 1, maxNewTokens: 5 }),
      await plain({ maxNewTokens: 5 }),
    );
    const sampling = { do_sample: true, temperature: 3, top_k: 4, top_p: 0.9, min_p: 0.05 };
    eg.manualSeed(3);
    const drawn = await said({ ...sampling, max_new_tokens: 12 });
    const same = { doSample: true, temperature: 3, topK: 4, topP: 0.9, minP: 0.05 };
    eg.manualSeed(3);
    assert.deepEqual(drawn, await plain({ ...same, maxNewTokens: 12 }));
    assert.deepEqual(await said(sampling, { doSample: false }), await plain({}));
    assert.deepEqual(
      await said({ no_repeat_ngram_size: 2, max_new_tokens: 20 }),
      await plain({ noRepeatNgramSize: 2, maxNewTokens: 20 }),
    );
    const [first] = (await plain({ maxNewTokens: 1 })).slice(3);
    const banned = await said({ bad_words_ids: [[first]], max_new_tokens: 1 });
    assert.notEqual(banned.at(-1), first);
    const beams = { numBeams: 3, maxNewTokens: 6 };
    assert.deepEqual(await said({ num_beams: 3, max_new_tokens: 6 }), await plain(beams));
    await assert.rejects(said({ penalty_alpha: 0.6 }), /penalty_alpha is 0\.6, which is not impl/);
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

describe("beam search", () => {
  const logsOf = (tokens) => probabilities(logits(arrays, tokens).at(-1)).map(Math.log);
  const words = range(config.vocab_size);
  const best = (texts) => texts.reduce((a, b) => (b.score > a.score ? b : a)).row;

  test("finds the best of all texts if it keeps enough of them", async () => {
    const firsts = logsOf(kPrompt);
    const texts = words.flatMap((a) => {
      const seconds = logsOf([...kPrompt, a]);
      return words.map((b) => ({ row: [...kPrompt, a, b], score: firsts[a] + seconds[b] }));
    });
    const options = { numBeams: config.vocab_size, maxNewTokens: 2 };
    assert.deepEqual(await write(options), [best(texts)]);
    const sorted = texts.toSorted((a, b) => b.score - a.score).slice(0, 3);
    assert.deepEqual(
      await write({ ...options, numReturnSequences: 3 }),
      sorted.map(({ row }) => row),
    );
  });

  test("compares texts of different lengths by their score per token", async () => {
    const firsts = logsOf(kPrompt);
    const order = words.toSorted((a, b) => firsts[b] - firsts[a]);
    for (const end of order.slice(0, 3)) {
      for (const lengthPenalty of [0, 1, 3]) {
        const texts = words.flatMap((a) => {
          if (a === end) return [{ row: [...kPrompt, a], score: firsts[a] }];
          const seconds = logsOf([...kPrompt, a]);
          return words.map((b) => ({
            row: [...kPrompt, a, b],
            score: (firsts[a] + seconds[b]) / 2 ** lengthPenalty,
          }));
        });
        const options = { numBeams: config.vocab_size, maxNewTokens: 2, lengthPenalty };
        assert.deepEqual(await write({ ...options, eosTokenId: end }), [best(texts)]);
      }
    }
  });

  test("keeps the best texts of each step, of each input", async () => {
    const prompts = [kPrompt, [4, 8, 2]];
    const found = prompts.map((prompt) => {
      let beams = [{ row: prompt, score: 0 }];
      for (let i = 0; i < 6; i++) {
        const next = beams.flatMap(({ row, score }) => {
          return logsOf(row).map((log, token) => ({ row: [...row, token], score: score + log }));
        });
        beams = next.sort((a, b) => b.score - a.score).slice(0, 3);
      }
      return beams[0].row;
    });
    assert.deepEqual(await write({ numBeams: 3, maxNewTokens: 6 }, prompts), found);
    const attentionMask = eg.tensor([[0, 1, 1, 1]]);
    const padded = { numBeams: 3, maxNewTokens: 6, attentionMask };
    assert.deepEqual(await write(padded, [[0, ...kPrompt]]), [[0, ...found[0]]]);
  });

  test("frees its memory, and refuses what it cannot do", async () => {
    await write({ numBeams: 3 });
    await collectGarbage();
    const { storages } = eg.memory();
    await write({ numBeams: 3 });
    await collectGarbage();
    assert.ok(eg.memory().storages <= storages);
    const streamer = { put() {} };
    await assert.rejects(write({ numBeams: 2, streamer }), /cannot be combined with streamer/);
    const many = { numBeams: 2, numReturnSequences: 3 };
    await assert.rejects(write(many), /at most as many texts as beams/);
  });
});

describe("a cache of the beginning of a text", () => {
  test("is continued and kept", async () => {
    const prompt = [...kPrompt, 5, 2, 9];
    const [text] = await write({ maxNewTokens: 4 }, [prompt]);
    const pastKeyValues = new KeyValueCache();
    const options = { maxNewTokens: 4, pastKeyValues };
    assert.deepEqual(await write(options, [prompt]), [text]);
    assert.equal(pastKeyValues.length, text.length - 1);
    const longer = [...text, 7, 3];
    const [wanted] = await write({ maxNewTokens: 5 }, [longer]);
    let read = 0;
    const hook = model.registerForwardPreHook((_, [input]) => {
      read += input.shape[1];
    });
    assert.deepEqual(await write({ ...options, maxNewTokens: 5 }, [longer]), [wanted]);
    hook.remove();
    // Three tokens of the text that are new, and four of its continuation.
    assert.equal(read, 3 + 4);
    pastKeyValues.crop(6);
    assert.deepEqual(
      await write(options, [prompt.slice(0, 6).concat(4)]),
      await write({ maxNewTokens: 4 }, [[...prompt, 4]]),
    );
    await assert.rejects(write(options, [prompt]), /begins with those of the cache/);
    pastKeyValues.dispose();
  });

  test("of several texts with padding", async () => {
    const masks = [
      [0, 1, 1],
      [1, 1, 1],
    ];
    const prompts = [[0, 4, 8], kPrompt];
    const pastKeyValues = new KeyValueCache();
    const options = { maxNewTokens: 3, pastKeyValues, attentionMask: eg.tensor(masks) };
    const rows = await write(options, prompts);
    const more = rows.map((row) => [...row, 6]);
    const attentionMask = eg.tensor(masks.map((row) => [...row, 1, 1, 1, 1]));
    assert.deepEqual(
      await write({ ...options, attentionMask }, more),
      await write({ maxNewTokens: 3, attentionMask }, more),
    );
  });
});
