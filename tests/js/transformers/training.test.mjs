// Examples, batches and fit(): what is learned, and that an interrupted training goes on as if it had not been.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { getPeftModel, LoraConfig } from "edgegrad/peft";
import {
  AutoModelForCausalLM,
  answerExample,
  DataCollatorForLanguageModeling,
  DataCollatorForPreference,
  dpoLoss,
  fit,
  packExamples,
} from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";
import { kDecoders } from "../support/plain_decoders.mjs";
import { drawWeights, filesOf, idsOf } from "../support/pretrained.mjs";

const { config, shapes } = kDecoders.llama;
const kFiles = filesOf(config, drawWeights(shapes).tensors);
const kExamples = Array.from({ length: 10 }, (_, i) =>
  answerExample(idsOf(2 + (i % 3), 19, i), idsOf(3, 19, 2 * i)),
);
const collator = new DataCollatorForLanguageModeling({ padTokenId: 0 });

describe("examples", () => {
  test("are learned by their answers", () => {
    assert.deepEqual(answerExample([1, 2], [3, 4]), {
      inputIds: [1, 2, 3, 4],
      labels: [-100, -100, 3, 4],
    });
  });

  test("are packed into blocks without padding", () => {
    const blocks = packExamples([{ inputIds: [1, 2, 3] }, answerExample([4], [5, 6])], 4);
    assert.deepEqual(blocks, [
      { inputIds: [1, 2, 3, 4], labels: [1, 2, 3, -100] },
      { inputIds: [5, 6], labels: [5, 6] },
    ]);
    assert.throws(() => packExamples([], 0), /length/);
  });

  test("are packed into blocks in which they do not see each other", async () => {
    const given = [[1, 2, 3], [4, 5, 6, 7, 8, 9], [3, 1], [2]].map((inputIds) => ({ inputIds }));
    const blocks = packExamples(given, 5, { separate: true });
    assert.deepEqual(blocks, [
      {
        inputIds: [1, 2, 3, 9, 2],
        labels: [-100, 2, 3, -100, -100],
        positionIds: [0, 1, 2, 0, 0],
        sequenceIds: [1, 1, 1, 2, 3],
      },
      {
        inputIds: [4, 5, 6, 7, 8],
        labels: [-100, 5, 6, 7, 8],
        positionIds: [0, 1, 2, 3, 4],
        sequenceIds: [1, 1, 1, 1, 1],
      },
      { inputIds: [3, 1], labels: [-100, 1], positionIds: [0, 1], sequenceIds: [1, 1] },
    ]);
    for (const name of ["llama", "gpt2", "gemma2", "gpt_neox", "mistral"]) {
      const own = kDecoders[name];
      const { tensors } = drawWeights(own.shapes);
      const model = await AutoModelForCausalLM.fromPretrained(filesOf(own.config, tensors));
      const [first] = packExamples(given.slice(0, 1).concat(given.slice(2)), 6, { separate: true });
      const { inputIds, labels, ...options } = collator.collate([first, blocks[1]]);
      const { logits } = model.call(inputIds, options);
      const alone = (ids) => model.call(eg.tensor([ids], { dtype: "int64" })).logits.at(0);
      const near = { rtol: 1e-4, atol: 1e-4 };
      const packed = logits.at(0);
      eg.testing.assertClose(packed.narrow(0, 0, 3), alone([1, 2, 3]), near);
      eg.testing.assertClose(packed.narrow(0, 3, 2), alone([3, 1]), near);
      eg.testing.assertClose(packed.narrow(0, 5, 1), alone([2]), near);
      assert.throws(
        () => model.call(inputIds, { sequenceIds: labels.narrow(1, 0, 2) }),
        /\[sequenceIds\] expected the shape \[2, 6\]/,
      );
    }
  });

  test("become batches, in which padding is not learned", () => {
    const examples = [{ inputIds: [1, 2, 3] }, answerExample([4], [5])];
    const lists = (options) => {
      const batch = new DataCollatorForLanguageModeling(options).collate(examples);
      return Object.fromEntries(
        Object.entries(batch).map(([name, one]) => [name, one.arraySync()]),
      );
    };
    assert.deepEqual(lists({ padTokenId: 9, padToMultipleOf: 4 }), {
      inputIds: [
        [1, 2, 3, 9],
        [4, 5, 9, 9],
      ],
      attentionMask: [
        [1, 1, 1, 0],
        [1, 1, 0, 0],
      ],
      labels: [
        [1, 2, 3, -100],
        [-100, 5, -100, -100],
      ],
    });
    assert.deepEqual(lists({ padTokenId: 9, paddingSide: "left", maxLength: 2 }).inputIds, [
      [1, 2],
      [4, 5],
    ]);
    assert.throws(() => new DataCollatorForLanguageModeling({}), /padTokenId is missing/);
    assert.throws(() => collator.collate([{ inputIds: [] }]), /no tokens/);
    assert.throws(() => collator.collate([{ inputIds: [1], labels: [] }]), /0 labels for 1 tokens/);
  });

  test("hide tokens that are to be predicted: masked, replaced, or as they are", () => {
    const masking = { maskTokenId: 4, vocabSize: 1000, specialTokenIds: [1, 2] };
    const made = new DataCollatorForLanguageModeling({ padTokenId: 0, masking });
    const words = Array.from({ length: 4000 }, (_, i) => 100 + (i % 800));
    const example = { inputIds: [1, ...words, 2] };
    const rowsOf = () => {
      eg.manualSeed(3);
      const { inputIds, labels } = made.collate([example]);
      return [inputIds.arraySync()[0].map(Number), labels.arraySync()[0].map(Number)];
    };
    const [ids, labels] = rowsOf();
    assert.deepEqual(rowsOf(), [ids, labels]);
    const hidden = [...ids.keys()].filter((i) => labels[i] !== -100);
    for (const i of ids.keys()) {
      const own = example.inputIds[i];
      assert.equal(labels[i] === -100 ? ids[i] : labels[i], own);
    }
    assert.ok(!hidden.includes(0) && !hidden.includes(4001));
    const share = (count, all) => count / all.length;
    const masked = hidden.filter((i) => ids[i] === 4);
    const kept = hidden.filter((i) => ids[i] === labels[i]);
    const near = (value, wanted) => assert.ok(Math.abs(value - wanted) < 0.03, `${value}`);
    near(share(hidden.length, words), 0.15);
    near(share(masked.length, hidden), 0.8);
    near(share(kept.length, hidden), 0.1);
    assert.ok(ids.every((id) => id >= 0 && id < 1000));
    const learned = { ...example, labels: example.inputIds.map(() => -100) };
    assert.deepEqual(made.collate([learned]).inputIds.arraySync()[0].map(Number), example.inputIds);
    for (const [given, message] of [
      [{ maskTokenId: 4 }, /maskTokenId and vocabSize are needed/],
      [{ maskTokenId: 9, vocabSize: 9 }, /not one of the 9 tokens/],
      [{ ...masking, probability: 0 }, /probability: expected a number above 0/],
      [{ ...masking, seed: 1 }, /unknown option "seed"/],
    ]) {
      const options = { padTokenId: 0, masking: given };
      assert.throws(() => new DataCollatorForLanguageModeling(options), { message });
    }
  });
});

// A model with an adapter, and everything that trains it, from the same random numbers.
async function setup(loaderOptions = {}) {
  eg.manualSeed(11);
  const base = await AutoModelForCausalLM.fromPretrained(kFiles);
  const options = { r: 2, loraAlpha: 4, loraDropout: 0.2, targetModules: ["q_proj", "v_proj"] };
  const model = getPeftModel(base, new LoraConfig(options));
  const optimizer = new eg.optim.AdamW(
    model.parameters().filter(({ requiresGrad }) => requiresGrad),
    { lr: 0.05 },
  );
  const scheduler = new eg.optim.lrScheduler.StepLR(optimizer, 3, { gamma: 0.5 });
  const loader = new eg.data.DataLoader(kExamples, {
    batchSize: 3,
    shuffle: true,
    collateFn: collator.collate,
    ...loaderOptions,
  });
  return { model, optimizer, scheduler, loader };
}

const trained = (model) =>
  model
    .parameters()
    .filter(({ requiresGrad }) => requiresGrad)
    .map((one) => one.arraySync());

describe("gradient checkpointing", () => {
  const kWords = 4096;
  const tokens = 80;
  const wide = { ...config, vocab_size: kWords };
  const rows = Object.entries(shapes).map(([name, shape]) => [
    name,
    shape[0] === config.vocab_size ? [kWords, ...shape.slice(1)] : shape,
  ]);
  const files = filesOf(wide, drawWeights(Object.fromEntries(rows)).tensors);
  const ids = eg.tensor([idsOf(tokens, kWords)], { dtype: "int64" });
  const labels = ids.clone();
  labels.narrow(1, 3, 40).fill_(-100);
  const trained = async (gradientCheckpointing) =>
    (await AutoModelForCausalLM.fromPretrained(files, { gradientCheckpointing })).train();

  // Runs before tests that need more memory: the peak is that of the whole process.
  test("never has the scores of all tokens at once", async () => {
    const peakOf = async (isCheckpointed) => {
      const model = await trained(isCheckpointed);
      eg.scope(() => void model.call(ids, { labels }).loss.backward());
      for (const one of model.parameters()) {
        one.grad.dispose();
        one.dispose();
      }
      return eg.memory().cpuPeakBytes;
    };
    const [checkpointed, plain] = [await peakOf(true), await peakOf(false)];
    assert.ok(plain - checkpointed > tokens * kWords * 4, `${plain} and ${checkpointed} bytes`);
  });

  test("computes the loss of a few tokens at a time", async () => {
    const runs = [];
    for (const gradientCheckpointing of [false, true]) {
      const model = await trained(gradientCheckpointing);
      const { logits, loss } = model.call(ids, { labels });
      loss.backward();
      runs.push([logits, loss, ...model.parameters().map(({ grad }) => grad)]);
    }
    const [plain, checkpointed] = runs;
    for (const [i, one] of plain.entries()) eg.testing.assertClose(checkpointed[i], one);
  });

  test("has a loss of NaN without labels, as the mean of nothing", async () => {
    const model = await trained(true);
    const none = eg.full([1, tokens], -100, { dtype: "int64" });
    assert.ok(Number.isNaN(model.call(ids, { labels: none }).loss.item()));
    assert.throws(
      () => model.call(ids, { labels: labels.narrow(1, 0, 5) }),
      /\[labels\] expected the shape \[1, 80\], got \[1, 5\]/,
    );
  });
});

describe("fit()", () => {
  test("computes the steps of a loop written by hand", async () => {
    const own = await setup();
    const reports = [];
    const { model, loader, optimizer, scheduler } = own;
    const result = await fit(model, loader, {
      optimizer,
      scheduler,
      epochs: 2,
      gradientAccumulation: 2,
      clipNorm: 0.5,
      onStep: (report) => void reports.push(report),
    });
    const byHand = await setup();
    const losses = [];
    byHand.model.train();
    for (let epoch = 0; epoch < 2; epoch++) {
      let waiting = [];
      let batches = 0;
      for await (const batch of byHand.loader) {
        const { inputIds, ...rest } = batch;
        const { loss } = byHand.model.call(inputIds, rest);
        const count = rest.labels
          .narrow(1, 1, rest.labels.shape[1] - 1)
          .ne(-100)
          .sum()
          .item();
        waiting.push({ loss, count });
        const isLast = ++batches === byHand.loader.length;
        if (waiting.length < 2 && !isLast) continue;
        // The mean over all labels of the step, whichever batch they are in.
        const total = waiting.reduce((sum, one) => sum + one.count, 0);
        const sums = waiting.map((one) => one.loss.mul(one.count));
        const mean = eg.stack(sums).sum().div(total);
        mean.backward();
        eg.nn.utils.clipGradNorm_(
          byHand.model.parameters().filter(({ requiresGrad }) => requiresGrad),
          0.5,
        );
        byHand.optimizer.step();
        byHand.scheduler.step();
        losses.push(mean.item());
        waiting = [];
        byHand.optimizer.zeroGrad();
      }
    }
    const [mine, theirs] = [trained(model), trained(byHand.model)];
    mine.forEach((one, i) => {
      eg.testing.assertClose(eg.tensor(one), eg.tensor(theirs[i]), { rtol: 1e-3, atol: 1e-3 });
    });
    assert.equal(result.steps, 4);
    assert.deepEqual(
      reports.map(({ step, epoch }) => [step, epoch]),
      [
        [1, 0],
        [2, 0],
        [3, 1],
        [4, 1],
      ],
    );
    assert.ok(reports.every(({ loss }, i) => Math.abs(loss - losses[i]) < 1e-6));
    assert.deepEqual(
      reports.map(({ lr }) => lr),
      [0.05, 0.05, 0.05, 0.025],
    );
    assert.ok(reports.every(({ gradNorm }) => gradNorm > 0));
    assert.ok(Math.abs(result.loss - (losses[2] + losses[3]) / 2) < 1e-6);
    assert.ok(model.modules().every(({ training }) => !training));
  });

  for (const [kind, loaderOptions] of [
    ["the global random numbers", {}],
    ["a loader's own", { seed: 4 }],
  ]) {
    test(`goes on from every checkpoint as if it had not been interrupted, with ${kind}`, async () => {
      const whole = await setup(loaderOptions);
      const saved = [];
      const checkpoint = {
        every: 1,
        save: (bytes, step) => void saved.push([step, bytes.slice()]),
      };
      const { optimizer, scheduler } = whole;
      await fit(whole.model, whole.loader, { optimizer, scheduler, epochs: 3, checkpoint });
      assert.deepEqual(
        saved.map(([step]) => step),
        Array.from({ length: 12 }, (_, i) => i + 1),
      );
      for (const [step, resume] of saved.filter(([one]) => [1, 4, 6, 11].includes(one))) {
        const again = await setup(loaderOptions);
        eg.manualSeed(999);
        const options = { optimizer: again.optimizer, scheduler: again.scheduler, epochs: 3 };
        const result = await fit(again.model, again.loader, { ...options, resume });
        assert.equal(result.steps, 12, `from step ${step}`);
        assert.deepEqual(trained(again.model), trained(whole.model), `from step ${step}`);
      }
    });
  }

  test("stops at a signal with a checkpoint, and evaluates after each pass", async () => {
    const { model, loader, optimizer } = await setup();
    const controller = new AbortController();
    const saved = [];
    const seen = [];
    const run = fit(model, loader, {
      optimizer,
      epochs: 9,
      evaluate: (one, epoch) => void seen.push([one.training, epoch]),
      checkpoint: { save: (bytes) => void saved.push(bytes) },
      onStep: ({ step }) => step === 6 && controller.abort(new Error("paused")),
      signal: controller.signal,
    });
    await assert.rejects(run, /paused/);
    assert.deepEqual(seen, [[false, 0]]);
    const more = await fit(model, loader, {
      optimizer,
      epochs: 2,
      resume: saved.at(-1),
      evaluate: () => 7,
    });
    assert.deepEqual([more.steps, more.evaluations], [8, [7]]);
  });

  test("takes any loss", async () => {
    const model = new eg.nn.Linear(2, 1);
    const optimizer = new eg.optim.SGD(model.parameters(), { lr: 0.1 });
    const data = new eg.data.TensorDataset(eg.randn([8, 2]), eg.zeros([8, 1]));
    const loader = new eg.data.DataLoader(data, { batchSize: 4 });
    const lossOf = (one, [x, y]) => eg.mseLoss(one.call(x), y);
    const { loss } = await fit(model, loader, { optimizer, epochs: 30, lossOf });
    assert.ok(loss < 0.05);
    const list = [await loader[Symbol.asyncIterator]().next()].map(({ value }) => value);
    assert.equal((await fit(model, list, { optimizer, epochs: 2, lossOf })).steps, 2);
  });

  test("refuses what cannot be trained", async () => {
    const { model, loader, optimizer, scheduler } = await setup();
    const refuses = async (promise, pattern) =>
      assert.rejects(
        promise,
        (error) => error instanceof eg.EdgeGradError && pattern.test(error.message),
      );
    await refuses(fit({}, loader, { optimizer }), /expected a module/);
    await refuses(fit(model, 3, { optimizer }), /expected a loader of batches, got 3/);
    await refuses(fit(model, loader, {}), /optimizer is missing/);
    await refuses(
      fit(model, loader, { optimizer, epoch: 3 }),
      /unknown option "epoch"; the options are optimizer/,
    );
    await refuses(
      fit(model, (async function* () {})(), { optimizer }),
      /the loader has no batches/,
    );
    await refuses(
      fit(
        model,
        (async function* () {
          yield { x: 1 };
        })(),
        { optimizer },
      ),
      /inputIds or pixelValues/,
    );
    await refuses(
      fit(model, loader, { optimizer, resume: eg.io.save({}) }),
      /not a checkpoint of fit/,
    );
    const saved = [];
    const checkpoint = { save: (own) => void saved.push(own) };
    await fit(model, loader, { optimizer, scheduler, checkpoint });
    const [bytes] = saved;
    await refuses(fit(model, loader, { optimizer, resume: bytes }), /differ in scheduler/);
    const other = new eg.nn.Linear(2, 1);
    await refuses(
      fit(other, loader, { optimizer, scheduler, resume: bytes }),
      /other trained parameters/,
    );
    model.requiresGrad_(false);
    await refuses(
      fit(model, loader, { optimizer }),
      /no parameter of the model requires a gradient/,
    );
  });
});

describe("direct preference optimization", () => {
  const pairs = [
    { prompt: [1, 2], chosen: [3, 4, 5], rejected: [6, 7] },
    { prompt: [5], chosen: [8], rejected: [9, 10, 11] },
  ];
  const preferences = new DataCollatorForPreference({ padTokenId: 0 });
  const logOf = (model, prompt, answer) => {
    const ids = eg.tensor([[...prompt, ...answer]], { dtype: "int64" });
    const rows = eg.logSoftmax(model.call(ids).logits.at(0), -1).arraySync();
    return answer.reduce((sum, token, i) => sum + rows[prompt.length + i - 1][token], 0);
  };
  const sigmoid = (x) => 1 / (1 + Math.exp(-x));

  test("has the loss of its formula, against a model or without the adapters", async () => {
    const reference = await AutoModelForCausalLM.fromPretrained(kFiles);
    const base = await AutoModelForCausalLM.fromPretrained(kFiles);
    const model = getPeftModel(base, new LoraConfig({ targetModules: "all-linear" }));
    eg.noGrad(() => {
      for (const one of model.parameters()) {
        if (one.requiresGrad) one.add_(eg.randn(one.shape).mul(0.2));
      }
    });
    const batch = preferences.collate(pairs);
    const beta = 0.3;
    const rewards = (answer) =>
      pairs.map((pair) => {
        const [prompt, tokens] = [pair.prompt, pair[answer]];
        return beta * (logOf(model, prompt, tokens) - logOf(reference, prompt, tokens));
      });
    const [chosen, rejected] = [rewards("chosen"), rewards("rejected")];
    for (const labelSmoothing of [0, 0.2]) {
      const losses = chosen.map((one, i) => {
        const margin = one - rejected[i];
        return -(
          (1 - labelSmoothing) * Math.log(sigmoid(margin)) +
          labelSmoothing * Math.log(sigmoid(-margin))
        );
      });
      const wanted = (losses[0] + losses[1]) / 2;
      for (const options of [{}, { reference }]) {
        const own = dpoLoss(model, batch, { beta, labelSmoothing, ...options });
        assert.ok(Math.abs(own.loss.item() - wanted) < 1e-4);
        eg.testing.assertClose(own.chosenRewards, eg.tensor(chosen), { rtol: 1e-3, atol: 1e-4 });
        eg.testing.assertClose(own.rejectedRewards, eg.tensor(rejected), {
          rtol: 1e-3,
          atol: 1e-4,
        });
      }
    }
    assert.throws(() => dpoLoss(base, batch), /nothing to compare the model with/);
    assert.throws(() => dpoLoss(model, batch, { labelSmoothing: 0.5 }), /labelSmoothing/);
  });

  test("makes the better answers likelier than the worse ones", async () => {
    const base = await AutoModelForCausalLM.fromPretrained(kFiles);
    const model = getPeftModel(base, new LoraConfig({ targetModules: "all-linear" }));
    const learned = model.parameters().filter(({ requiresGrad }) => requiresGrad);
    const optimizer = new eg.optim.AdamW(learned, { lr: 0.02 });
    const loader = new eg.data.DataLoader(pairs, {
      batchSize: 2,
      collateFn: preferences.collate,
    });
    const lossOf = (one, batch) => dpoLoss(one, batch);
    const { loss } = await fit(model, loader, { optimizer, lossOf, epochs: 20 });
    assert.ok(loss < Math.log(2) / 2, `${loss}`);
    const { chosenRewards, rejectedRewards } = dpoLoss(model, preferences.collate(pairs));
    assert.ok(chosenRewards.sub(rejectedRewards).min().item() > 0);
  });
});
