// A program that trains a few networks for some steps and prints a hash of the weights of each: `node train_and_hash.mjs
// VARIANT THREADS`. The sizes are large enough that ops are split between threads.

import { createHash } from "node:crypto";
import * as eg from "edgegrad";

const [variant, threads] = process.argv.slice(2);
await eg.init({ variant, threads: Number(threads) });

const { nn, optim } = eg;
const kSteps = 3;

class Reader extends nn.Module {
  constructor() {
    super();
    this.embedding = new nn.Embedding(65, 64);
    this.layer = new nn.TransformerEncoderLayer(64, 4, 256, {
      activation: "gelu",
      batchFirst: true,
    });
    this.head = new nn.Linear(64, 65);
  }

  forward(tokens) {
    return this.head.call(this.layer.call(this.embedding.call(tokens))).flatten(0, 1);
  }
}

class Listener extends nn.Module {
  constructor() {
    super();
    this.lstm = new nn.LSTM(32, 64, { batchFirst: true, numLayers: 2 });
    this.head = new nn.Linear(64, 10);
  }

  forward(x) {
    return this.head.call(this.lstm.call(x)[0].sum(1));
  }
}

const images = (channels) => ({
  x: () => eg.randn([32, channels, 28, 28]),
  y: () => eg.randint(10, [32]),
});

// model, data, optimizer
const kTrainings = {
  mlp: {
    model: () =>
      new nn.Sequential(
        new nn.Linear(784, 256),
        new nn.Tanh(),
        new nn.Dropout(0.2),
        new nn.Linear(256, 10),
      ),
    x: () => eg.rand([64, 784]),
    y: () => eg.randint(10, [64]),
    optimizer: (parameters) => new optim.Adam(parameters),
  },
  cnn: {
    model: () =>
      new nn.Sequential(
        new nn.Conv2d(3, 32, 5, { stride: 2 }),
        new nn.BatchNorm2d(32),
        new nn.ReLU(),
        new nn.Conv2d(32, 64, 3, { padding: 1 }),
        new nn.SiLU(),
        new nn.Conv2d(64, 64, 3, { padding: 1, groups: 64 }),
        new nn.MaxPool2d(2),
        new nn.ConvTranspose2d(64, 16, 4, { stride: 2, padding: 1 }),
        new nn.GroupNorm(4, 16),
        new nn.Flatten(),
        new nn.Linear(16 * 12 * 12, 10),
      ),
    ...images(3),
    optimizer: (parameters) => new optim.SGD(parameters, { lr: 0.05, momentum: 0.9 }),
  },
  transformer: {
    model: () => new Reader(),
    x: () => eg.randint(65, [8, 64]),
    y: () => eg.randint(65, [512]),
    optimizer: (parameters) => new optim.AdamW(parameters),
  },
  lstm: {
    model: () => new Listener(),
    x: () => eg.randn([16, 20, 32]),
    y: () => eg.randint(10, [16]),
    optimizer: (parameters) => new optim.RMSprop(parameters),
  },
};

function hashAfter({ model: make, x, y, optimizer: makeOptimizer }) {
  eg.manualSeed(7);
  const model = make();
  const optimizer = makeOptimizer(model.parameters());
  for (let step = 0; step < kSteps; ++step) {
    eg.scope(() => {
      optimizer.zeroGrad();
      eg.crossEntropy(model.call(x()), y()).backward();
      optimizer.step();
    });
  }
  const hash = createHash("sha256");
  for (const [name, tensor] of Object.entries(model.stateDict())) {
    hash.update(name).update(tensor.dataSync());
  }
  return hash.digest("hex");
}

const hashes = Object.entries(kTrainings).map(([name, training]) => [name, hashAfter(training)]);
console.log(JSON.stringify(Object.fromEntries(hashes)));
await eg.shutdown();
