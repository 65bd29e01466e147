// The programs that decide what the core contains: everything that runs in them. They are what people train in pages, with random
// sizes, so that code for the remainders of loops runs as well. `random` returns an integer in [from, to), often the first or the last.

import { gc } from "../testing/garbage_collector.mjs";

// The engine keeps the clock that exists when it is imported, so this file must be imported first.
const { now } = performance;
let passing = 0;
let passed = 0; // ms
performance.now = () => {
  passed += passing;
  return now.call(performance) + passed;
};

/** Runs all programs, and the finalizers of the graphs that they leave to the garbage collector. */
export async function runPrograms(eg, seed, names = Object.keys(kPrograms)) {
  eg.manualSeed(seed);
  const random = randomFrom(seed);
  for (const name of names) await kPrograms[name](eg, random);
  // Finalizers run in a separate task, and what they free may have kept other objects alive.
  for (let round = 0; round < 2; ++round) {
    gc();
    await new Promise(setImmediate);
  }
}

// A linear congruential generator, so that every build makes the same choices.
function randomFrom(seed) {
  let state = seed * 7919 + 1;
  const below = (limit) => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * limit);
  };
  return (from, to) => {
    const kind = below(8);
    if (kind < 2) return kind === 0 ? from : to - 1;
    return from + below(to - from);
  };
}

/** An integer for each pair of limits. */
const sizes = (random, ...limits) => limits.map(([from, to]) => random(from, to));

const lossOfClasses = (eg, scores, count) =>
  eg.crossEntropy(scores, eg.randint(0, scores.shape[1], [count]));

/** Steps of training, like the loops of the guides. */
async function train(eg, optimizer, lossOf, steps = 3) {
  const scheduler = new eg.optim.lrScheduler.CosineAnnealingLR(optimizer, steps);
  const printed = [];
  for (let step = 0; step < steps; ++step) {
    eg.scope(() => {
      optimizer.zeroGrad();
      const loss = lossOf();
      loss.backward();
      optimizer.step();
      printed.push(loss.item());
    });
    scheduler.step();
  }
  const last = lossOf();
  printed.push(await last.itemAsync());
  last.dispose();
  return printed;
}

/** A multilayer perceptron on arrays of the page. */
async function perceptron(eg, random, makers) {
  const [inputs, hidden, classes] = sizes(random, [1, 900], [1, 300], [2, 30]);
  const { Sequential, Linear, ReLU, Dropout } = eg.nn;
  for (const make of makers) {
    const model = new Sequential(
      new Linear(inputs, hidden),
      new ReLU(),
      new Dropout(0.2),
      new Linear(hidden, classes),
    );
    const count = random(1, 130);
    const images = Float32Array.from({ length: count * inputs }, () => random(0, 256) / 255);
    const labels = BigInt64Array.from({ length: count }, () => BigInt(random(0, classes)));
    const x = eg.tensor(images, { shape: [count, inputs] });
    const y = eg.tensor(labels);
    await train(eg, make(model.parameters()), () => eg.crossEntropy(model.call(x), y));
  }
}

function mlp(eg, random) {
  const { SGD, Adam, AdamW } = eg.optim;
  return perceptron(eg, random, [
    (parameters) => new SGD(parameters, { lr: 0.1 }),
    (parameters) =>
      new SGD(parameters, { lr: 0.1, momentum: 0.9, nesterov: true, weightDecay: 1e-4 }),
    (parameters) => new Adam(parameters, { lr: 1e-3 }),
    (parameters) => new AdamW(parameters, { lr: 1e-3, amsgrad: true }),
  ]);
}

function optimizers(eg, random) {
  const { RMSprop, Adagrad, Adadelta, Adamax, NAdam, RAdam, ASGD, Rprop, Adafactor } = eg.optim;
  return perceptron(eg, random, [
    (parameters) => new RMSprop(parameters, { momentum: 0.9, centered: true }),
    ...[Adagrad, Adadelta, Adamax, NAdam, RAdam, ASGD, Rprop, Adafactor].map(
      (Optimizer) => (parameters) => new Optimizer(parameters),
    ),
  ]);
}

// A set of samples in shuffled batches.
async function batches(eg, random) {
  const { Sequential, Linear, ReLU } = eg.nn;
  const [inputs, classes, count] = sizes(random, [1, 40], [2, 12], [8, 80]);
  const model = new Sequential(new Linear(inputs, 16), new ReLU(), new Linear(16, classes));
  const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.01 });
  const labels = eg.randint(0, classes, [count]);
  const set = new eg.data.TensorDataset(eg.rand([count, inputs]), labels);
  const loader = new eg.data.DataLoader(set, { batchSize: random(1, 20), shuffle: true });
  for await (const [x, y] of loader)
    await train(eg, optimizer, () => eg.crossEntropy(model.call(x), y), 1);
}

/** Regression and classification of points, with batches from a loader. */
async function points(eg, random) {
  const { Sequential, Linear, Tanh, Sigmoid, GELU, SiLU, LeakyReLU, ELU, Softplus } = eg.nn;
  for (const Activation of [Tanh, Sigmoid, GELU, SiLU, LeakyReLU, ELU, Softplus]) {
    const inputs = random(1, 8);
    const model = new Sequential(new Linear(inputs, 16), new Activation(), new Linear(16, 1));
    const rows = Array.from({ length: random(8, 40) }, () =>
      Array.from({ length: inputs }, () => random(0, 1000) / 1000),
    );
    const x = eg.tensor(rows);
    const y = x.sum(1, true).sin();
    const set = new eg.data.TensorDataset(x, y);
    const loader = new eg.data.DataLoader(set, { batchSize: random(1, 9), shuffle: true });
    const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.01 });
    const kinds = [
      (out, wanted) => eg.mseLoss(out, wanted),
      (out, wanted) => eg.l1Loss(out, wanted),
      (out, wanted) => eg.smoothL1Loss(out, wanted),
      (out, wanted) => eg.binaryCrossEntropyWithLogits(out, wanted.gt(0).to("float32")),
    ];
    for (const lossOf of kinds) {
      for await (const [inputsOfBatch, wanted] of loader)
        await train(eg, optimizer, () => lossOf(model.call(inputsOfBatch), wanted), 1);
    }
  }
}

/** Arithmetic written by hand: a linear model without modules. */
function arithmetic(eg, random) {
  const [rows, columns] = sizes(random, [1, 40], [1, 40]);
  // Fewer than 16 elements would use other code, which needs more of the C library than the rest of the core.
  eg.randn([random(16, 60)]);
  eg.randint(0, columns, [rows]);
  const x = eg.rand([rows, columns]);
  const wanted = eg.ones([rows, 1]);
  const weight = eg.zeros([columns, 1], { requiresGrad: true });
  const bias = eg.zeros([1], { requiresGrad: true });
  const loss = x.matmul(weight).add(bias).sub(wanted).square().mean();
  x.mul(weight.t()).exp().sum().item();
  String(
    eg
      .tensor([
        [1.5, columns],
        [rows, -0.5],
      ])
      .mul(2),
  );
  loss.backward();
  eg.noGrad(() => {
    for (const parameter of [weight, bias]) {
      parameter.sub_(parameter.grad.mul(0.1).div(2).neg());
      parameter.grad = null;
    }
  });
  weight.tolist();
  const kWrong = [
    () => x.matmul(eg.ones([columns + 1, 2])),
    () => loss.backward(),
    () => eg.empty([2 ** 30]),
  ];
  for (const wrong of kWrong) {
    try {
      wrong();
    } catch (error) {
      if (error.code === undefined) throw error;
      continue;
    }
    throw new Error("a wrong call did not fail");
  }
}

/** The evaluation of a trained model: its accuracy and its predictions. */
async function evaluation(eg, random) {
  const { Sequential, Linear, ReLU } = eg.nn;
  const [inputs, classes, count] = sizes(random, [1, 900], [2, 30], [1, 130]);
  await startThreadInBackground(eg);
  const model = new Sequential(new Linear(inputs, 20), new ReLU(), new Linear(20, classes));
  const x = eg.rand([count, inputs]);
  await model.call(x).sum().backwardAsync();
  await interrupted(() => model.call(x).sum().backwardAsync());
  model.eval();
  const scores = eg.noGrad(() => model.call(x));
  const best = scores.argmax(-1);
  best
    .eq(eg.randint(0, classes, [count]))
    .to("float32")
    .mean()
    .item();
  await scores.softmax(-1).array();
}

// Makes a background thread the first one that starts others: only a gradient is large enough for several threads.
async function startThreadInBackground(eg) {
  const table = eg.tensor(new Float32Array(2 ** 18), { requiresGrad: true });
  await table.narrow(0, 0, 1).sum().backwardAsync();
}

/**
 * Calls `run` as if on a busy machine: without threads, an asynchronous backward call runs in pieces of a few milliseconds, and each piece
 * has time for only one node.
 */
async function interrupted(run) {
  passing = 100;
  try {
    return await run();
  } finally {
    passing = 0;
  }
}

const trainOn = async (eg, random, model, shape) => {
  const count = random(1, 20);
  const x = eg.rand([count, ...shape]);
  const optimizer = new eg.optim.Adam(model.parameters());
  await train(eg, optimizer, () => lossOfClasses(eg, model.call(x), count), 2);
};

/** Convolutions on images, with the layers that usually come with them. */
async function cnn(eg, random) {
  const { Sequential, Conv2d, BatchNorm2d, ReLU, MaxPool2d, Flatten, Linear } = eg.nn;
  const [side, channels, first, second] = sizes(random, [24, 33], [1, 4], [1, 20], [1, 33]);
  const kernel = random(1, 3) * 2 + 1;
  const plain = new Sequential(
    new Conv2d(channels, first, kernel),
    new ReLU(),
    new MaxPool2d(2),
    new Conv2d(first, second, 3, { padding: 1 }),
    new ReLU(),
    new MaxPool2d(2),
    new Flatten(),
    new Linear(second * Math.floor((side - kernel + 1) / 4) ** 2, 10),
  );
  await trainOn(eg, random, plain, [channels, side, side]);
  const normalized = new Sequential(
    new Conv2d(channels, first, 3, { padding: 1, bias: false }),
    new BatchNorm2d(first),
    new ReLU(),
    new MaxPool2d(4),
    new Flatten(),
    new Linear(first * Math.floor(side / 4) ** 2, 10),
  );
  await trainOn(eg, random, normalized, [channels, side, side]);
}

/** Other layers for images. */
async function images(eg, random) {
  eg.randn([random(1, 16)]);
  const { Sequential, Conv2d, AvgPool2d, AdaptiveAvgPool2d, Dropout2d, Flatten, Linear } = eg.nn;
  const [side, first, second] = sizes(random, [24, 33], [1, 20], [1, 33]);
  const model = new Sequential(
    new Conv2d(3, first, 3, { padding: 1 }),
    new AvgPool2d(2),
    new Dropout2d(0.1),
    new Conv2d(first, second, 3, { stride: 2 }),
    new AdaptiveAvgPool2d(1),
    new Flatten(),
    new Linear(second, 10),
  );
  await trainOn(eg, random, model, [3, side, side]);
}

/** A small transformer. */
async function gpt(eg, random) {
  eg.randn([random(1, 16)]);
  const { Embedding, GELU, LayerNorm, Linear, Module, Sequential, Dropout } = eg.nn;
  const heads = random(1, 5);
  const width = heads * random(1, 5) * 4;
  const context = random(2, 70);
  class Block extends Module {
    norm1 = new LayerNorm(width);
    qkv = new Linear(width, 3 * width);
    projection = new Linear(width, width);
    dropout = new Dropout(0.1);
    norm2 = new LayerNorm(width);
    mlp = new Sequential(new Linear(width, 4 * width), new GELU(), new Linear(4 * width, width));

    forward(x) {
      const parts = this.qkv.call(this.norm1.call(x)).unflatten(2, [3, heads, -1]);
      const [query, key, value] = parts.permute([2, 0, 3, 1, 4]).unbind(0);
      const mixed = eg.scaledDotProductAttention(query, key, value, { isCausal: true });
      const y = x.add(this.dropout.call(this.projection.call(mixed.transpose(1, 2).flatten(2))));
      return y.add(this.mlp.call(this.norm2.call(y)));
    }
  }
  class Gpt extends Module {
    words = new Embedding(65, width);
    places = new Embedding(context, width);
    blocks = new Sequential(new Block(), new Block());
    norm = new LayerNorm(width);
    head = new Linear(width, 65);

    forward(tokens) {
      const places = this.places.call(eg.arange(tokens.shape[1]));
      return this.head.call(this.norm.call(this.blocks.call(this.words.call(tokens).add(places))));
    }
  }
  const model = new Gpt();
  const optimizer = new eg.optim.AdamW(model.parameters(), { lr: 3e-3, betas: [0.9, 0.99] });
  const text = eg.randint(0, 65, [1000]);
  const count = random(1, 9);
  const windows = () =>
    text.take(eg.randint(0, 1000 - context - 1, [count, 1]).add(eg.arange(context + 1)));
  await train(
    eg,
    optimizer,
    () => {
      const taken = windows();
      const scores = model.call(taken.narrow(1, 0, context)).flatten(0, 1);
      return eg.crossEntropy(scores, taken.narrow(1, 1, context).flatten());
    },
    2,
  );
}

// Text generation by a trained language model.
async function sampling(eg, random) {
  const scores = eg.randn([1, random(2, 70), random(6, 70)]).select(1, -1);
  eg.multinomial(scores.div(0.8).softmax(-1), 1).item();
  scores.topk(5);
}

/** Recurrent networks on sequences. */
async function recurrent(eg, random) {
  const { LSTM, GRU, RNN, Linear, Module } = eg.nn;
  for (const Layer of [LSTM, GRU, RNN]) {
    const [inputs, hidden, length, count] = sizes(random, [1, 9], [1, 40], [1, 20], [1, 17]);
    class Reader extends Module {
      layer = new Layer(inputs, hidden, { batchFirst: true });
      head = new Linear(hidden, 2);

      forward(x) {
        const [output] = this.layer.call(x);
        return this.head.call(output.select(1, -1));
      }
    }
    const model = new Reader();
    const x = eg.randn([count, length, inputs]);
    const optimizer = new eg.optim.Adam(model.parameters());
    await train(eg, optimizer, () => lossOfClasses(eg, model.call(x), count), 2);
  }
}

/** Threads that start others and request a part. */
async function request(eg) {
  if (eg.runtime().threads === 1) return;
  await startThreadInBackground(eg);
  await eg.spawn(new URL("request_part.mjs", import.meta.url), "requestPart");
}

export const kPrograms = {
  mlp,
  arithmetic,
  evaluation,
  optimizers,
  batches,
  points,
  cnn,
  images,
  gpt,
  sampling,
  recurrent,
  request,
};
