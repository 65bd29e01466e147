// Data loading: loaders, samplers, splits, collation, and resumed runs.

import * as eg from "edgegrad";

const { nn, optim } = eg;
const F = nn.functional;
const { BatchSampler, ConcatDataset, DataLoader, RandomSampler, SequentialSampler, Subset } =
  eg.data;
const { SubsetRandomSampler, TensorDataset, WeightedRandomSampler, randomSplit } = eg.data;

const makeModel = () =>
  new nn.Sequential(new nn.Linear(4, 8), new nn.ReLU(), new nn.Dropout(0.2), new nn.Linear(8, 2));

function make(dtype, rows = 50) {
  const x = eg.randn([rows, 4], { dtype });
  const y = x.at(eg.slice(), 0).add(x.at(eg.slice(), 1)).gt(0).long();
  return { x, y, model: makeModel().to(dtype) };
}

async function epochs(record, model, loader, count = 3) {
  const optimizer = new optim.Adam(model.parameters(), { lr: 0.02 });
  for (let epoch = 0; epoch < count; epoch++) {
    for await (const [x, y] of loader) {
      const loss = F.crossEntropy(model.call(x), y);
      optimizer.zeroGrad();
      loss.backward();
      optimizer.step();
      record(loss);
    }
  }
  return model.parameters();
}

function shuffled(record, dtype) {
  const { x, y, model } = make(dtype);
  const loader = new DataLoader(new TensorDataset(x, y), { batchSize: 16, shuffle: true });
  return epochs(record, model, loader);
}

function ofGenerator(record, dtype) {
  const { x, y, model } = make(dtype);
  const generator = new eg.Generator(42);
  const settings = { batchSize: 16, shuffle: true, dropLast: true, generator };
  return epochs(record, model, new DataLoader(new TensorDataset(x, y), settings));
}

async function split(record, dtype) {
  const { x, y, model } = make(dtype);
  const [train, valid] = randomSplit(new TensorDataset(x, y), [0.6, 0.3, 0.1]);
  const loader = new DataLoader(train, { batchSize: 8, shuffle: true });
  const params = await epochs(record, model, loader);
  model.eval();
  let total = eg.zeros([], { dtype });
  for await (const [a, b] of new DataLoader(valid, { batchSize: 32 })) {
    const loss = eg.noGrad(() => F.crossEntropy(model.call(a), b, { reduction: "sum" }));
    total = total.add(loss);
  }
  record(total.div(valid.length));
  return params;
}

function splitByGenerator(record, dtype) {
  const { x, y, model } = make(dtype);
  const generator = new eg.Generator(5);
  const [train, rest] = randomSplit(new TensorDataset(x, y), [30, 20], { generator });
  const even = Array.from({ length: 10 }, (_, i) => 2 * i);
  const both = new ConcatDataset([new Subset(rest, even), train]);
  return epochs(record, model, new DataLoader(both, { batchSize: 10, shuffle: true }));
}

async function weighted(record, dtype) {
  const { x, y, model } = make(dtype);
  const counts = eg.bincount(y).double();
  const sampler = new WeightedRandomSampler(eg.div(1, counts).at(y), {
    numSamples: 40,
    replacement: true,
  });
  const loader = new DataLoader(new TensorDataset(x, y), { batchSize: 10, sampler });
  const params = await epochs(record, model, loader);
  const weights = [0.1, 0.9, 0.4, 0.7, 3, 0.6];
  const once = new WeightedRandomSampler(weights, 4, { replacement: false });
  record([...once].reduce((sum, position, k) => sum + position * 10 ** k, 0));
  return params;
}

async function sampled(record, dtype) {
  const { x, y, model } = make(dtype);
  const data = new TensorDataset(x, y);
  const again = new RandomSampler(data, { replacement: true, numSamples: 45 });
  await epochs(record, model, new DataLoader(data, { batchSize: 10, sampler: again }));
  const some = new SubsetRandomSampler(Array.from({ length: 25 }, (_, i) => 10 + i));
  await epochs(record, model, new DataLoader(data, { batchSize: 5, sampler: some }), 2);
  const settings = { batchSize: 12, dropLast: true };
  const batchSampler = new BatchSampler(new SequentialSampler(data), settings);
  return epochs(record, model, new DataLoader(data, { batchSampler }), 2);
}

/** Augments samples at random, as datasets of images do. */
class Noisy {
  constructor(x, y) {
    this.x = x;
    this.y = y;
  }

  get length() {
    return this.x.shape[0];
  }

  get(i) {
    let x = this.x.at(i);
    if (eg.rand([1]).item() < 0.5) x = x.flip(0);
    const input = x.add(eg.randn([4], { dtype: x.dtype }).mul(0.1));
    return { input, target: this.y.at(i), weight: 1 + (i % 3) };
  }
}

async function augmented(record, dtype) {
  const { x, y, model } = make(dtype);
  const optimizer = new optim.RMSprop(model.parameters(), { lr: 0.01 });
  for (let epoch = 0; epoch < 3; epoch++) {
    const loader = new DataLoader(new Noisy(x, y), { batchSize: 16, shuffle: true });
    for await (const { input, target, weight } of loader) {
      const each = F.crossEntropy(model.call(input), target, { reduction: "none" });
      const loss = each.mul(weight.to(dtype)).mean();
      optimizer.zeroGrad();
      loss.backward();
      optimizer.step();
      record(loss);
    }
  }
  return model.parameters();
}

/** Sequences of different lengths, padded by collateFn. */
async function collated(record, dtype) {
  const lengthsOfAll = eg.randint(2, 7, [20]).arraySync();
  const sequences = lengthsOfAll.map((length) => eg.randint(1, 9, [length]));
  const data = sequences.map((s) => [s, s.sum().item() % 2]);
  const embed = new nn.Embedding(9, 5, { paddingIdx: 0 });
  const rnn = new nn.GRU(5, 6, { batchFirst: true });
  const head = new nn.Linear(6, 2);
  nn.init.uniform_(embed.weight, -1, 1);
  const model = new nn.ModuleList([embed, rnn, head]).to(dtype);
  const { packPaddedSequence, padSequence } = nn.utils.rnn;
  const collateFn = (batch) => {
    const tokens = batch.map(([sequence]) => sequence);
    const lengths = tokens.map((sequence) => sequence.numel);
    const labels = eg.tensor(
      batch.map(([, label]) => label),
      { dtype: "int64" },
    );
    return [padSequence(tokens, { batchFirst: true }), lengths, labels];
  };
  const loader = new DataLoader(data, { batchSize: 6, shuffle: true, collateFn });
  const optimizer = new optim.Adam(model.parameters(), { lr: 0.02 });
  const settings = { batchFirst: true, enforceSorted: false };
  for (let epoch = 0; epoch < 3; epoch++) {
    for await (const [tokens, lengths, labels] of loader) {
      const packed = packPaddedSequence(embed.call(tokens), lengths, settings);
      const [, h] = rnn.call(packed);
      const loss = F.crossEntropy(head.call(h.at(-1)), labels);
      optimizer.zeroGrad();
      loss.backward();
      optimizer.step();
      record(loss);
    }
  }
  return model.parameters();
}

function streamed(record, dtype) {
  const { model } = make(dtype, 1);
  const stream = {
    *[Symbol.iterator]() {
      for (let i = 0; i < 22; i++) {
        const x = eg.randn([4], { dtype });
        yield [x, x.at(0).gt(0).long()];
      }
    },
  };
  return epochs(record, model, new DataLoader(stream, { batchSize: 6 }));
}

/** Saves everything in the middle of a run, creates all objects again, and resumes. */
async function resumed(record, dtype) {
  const { x, y, model } = make(dtype);
  const loader = new DataLoader(new TensorDataset(x, y), { batchSize: 16, shuffle: true });
  const optimizer = new optim.RAdam(model.parameters(), { lr: 0.03 });
  const scheduler = new optim.lrScheduler.OneCycleLR(optimizer, 0.05, { totalSteps: 24 });
  const run = async (network, steps, rates) => {
    for (let epoch = 0; epoch < 3; epoch++) {
      for await (const [a, b] of loader) {
        const loss = F.crossEntropy(network.call(a), b);
        steps.zeroGrad();
        loss.backward();
        steps.step();
        rates.step();
        record(loss);
      }
    }
  };
  await run(model, optimizer, scheduler);
  const file = eg.io.save({
    model: model.stateDict(),
    optimizer: optimizer.stateDict(),
    scheduler: scheduler.stateDict(),
    random: eg.random.getState(),
    epoch: 3,
  });
  eg.manualSeed(99);
  const later = makeModel().to(dtype);
  const laterSteps = new optim.RAdam(later.parameters(), { lr: 1 });
  const laterRates = new optim.lrScheduler.OneCycleLR(laterSteps, 0.5, { totalSteps: 100 });
  const saved = eg.io.load(file);
  later.loadStateDict(saved.model);
  laterSteps.loadStateDict(saved.optimizer);
  laterRates.loadStateDict(saved.scheduler);
  eg.random.setState(saved.random);
  await run(later, laterSteps, laterRates);
  record(laterRates.getLastLr()[0]);
  return later.parameters();
}

/** Cross-validation that stores the best state of each fold. */
async function folds(record, dtype) {
  const { x, y } = make(dtype, 30);
  const order = eg.randperm(30);
  const params = [];
  for (let fold = 0; fold < 3; fold++) {
    const valid = order.at(eg.slice(fold * 10, fold * 10 + 10));
    const train = order.at(eg.isin(order, valid).logicalNot());
    eg.manualSeed(fold);
    const model = new nn.Linear(4, 2).to(dtype);
    const optimizer = new optim.Adagrad(model.parameters(), { lr: 0.5 });
    let best = Infinity;
    let bestState;
    const part = new Subset(new TensorDataset(x, y), train.tolist());
    for await (const [a, b] of new DataLoader(part, { batchSize: 4, shuffle: true })) {
      optimizer.zeroGrad();
      F.crossEntropy(model.call(a), b).backward();
      optimizer.step();
      const loss = eg.noGrad(() => F.crossEntropy(model.call(x.at(valid)), y.at(valid)).item());
      if (loss < best) {
        best = loss;
        const entries = Object.entries(model.stateDict());
        bestState = Object.fromEntries(entries.map(([key, value]) => [key, value.clone()]));
      }
      record(loss);
    }
    model.loadStateDict(bestState);
    params.push(...model.parameters());
  }
  return params;
}

export const programs = {
  shuffled,
  "of a generator": ofGenerator,
  "random split": split,
  "random split by a generator": splitByGenerator,
  "weighted sampler": weighted,
  "other samplers": sampled,
  augmented,
  collated,
  streamed,
  "saved and resumed": resumed,
  "cross-validation": folds,
};
