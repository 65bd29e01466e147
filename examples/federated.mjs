// Federated training: a NATS server, a coordinator and four clients, each of which has two digits of MNIST. `--strategy diloco` takes
// DiLoCo instead of FedAvg; `--compression int8` sends updates of one byte per weight. A step is a round.

import { parseArgs } from "node:util";
import * as eg from "edgegrad";
import { DiLoCo, FedAvg, join, serve } from "edgegrad/federated";
import { asImages, loadDigits } from "./support/digits.mjs";
import { startNats } from "./support/nats_server.mjs";
import { exportIfWanted } from "./support/onnx.mjs";
import { kSteps, stepsOf, tell } from "./support/steps.mjs";

const kClients = 4;
const kDigitsEach = 2;
const kBatch = 64;
const { Conv2d, Flatten, Linear, MaxPool2d, ReLU, Sequential } = eg.nn;

const { strategy, compression, ...values } = parseArgs({
  options: {
    ...kSteps,
    strategy: { type: "string", default: "fedavg" },
    compression: { type: "string" },
  },
}).values;
if (!["fedavg", "diloco"].includes(strategy)) throw new Error(`--strategy: no ${strategy}`);
const rounds = stepsOf(values.steps, 200);
await eg.init();
eg.manualSeed(0);
const { train, test } = loadDigits();

const block = (from, to) => [new Conv2d(from, to, 3, { padding: 1 }), new ReLU(), new MaxPool2d(2)];
const makeModel = () =>
  new Sequential(...block(1, 8), ...block(8, 16), new Flatten(), new Linear(16 * 7 * 7, 10));

/** The images and labels of a set whose digits are from `first` to below `end`. */
function digitsOf(set, first, end) {
  const [images, labels] = set.getBatch(Array.from({ length: set.length }, (_, i) => i));
  const chosen = labels.ge(first).logicalAnd(labels.lt(end));
  return [images.at(chosen), labels.at(chosen).to("int64")];
}

const isDiLoCo = strategy === "diloco";
const kinds = {
  // What a client does in a round: few steps, because two digits lead away from the others; and plain ones, because those of AdamW have
  // the same length in the directions in which clients with different digits do not agree.
  fedavg: { steps: 4, optimizer: (model) => new eg.optim.SGD(model.parameters(), { lr: 0.15 }) },
  diloco: { steps: 4, optimizer: (model) => new eg.optim.SGD(model.parameters(), { lr: 0.03 }) },
};

/** The function `train` of the client that has some digits. */
function trainer(images, labels) {
  const { steps, optimizer: make } = kinds[strategy];
  return async ({ model, signal }) => {
    const optimizer = make(model);
    let loss = 0;
    for (let step = 0; step < steps && !signal.aborted; step++) {
      loss = eg.scope(() => {
        const batch = eg.randint(0, labels.numel, [kBatch]);
        const logits = model.call(asImages(images.indexSelect(0, batch)));
        const error = eg.crossEntropy(logits, labels.indexSelect(0, batch));
        optimizer.zeroGrad();
        error.backward();
        optimizer.step();
        return error.item();
      });
    }
    return { samples: steps * kBatch, metrics: { loss } };
  };
}

const [testImages, testLabels] = digitsOf(test, 0, kClients * kDigitsEach);
const nats = await startNats();
const run = { servers: nats.url, run: "digits", model: makeModel };
const coordinator = await serve({
  ...run,
  strategy: isDiLoCo ? new DiLoCo() : new FedAvg(),
  rounds,
  minClients: kClients,
  deadline: 60_000,
  ...(compression && { compression: { dtype: compression } }),
  evaluate: ({ model }) =>
    eg.scope(() => {
      const guesses = eg.noGrad(() => model.call(asImages(testImages)).argmax(1));
      return { accuracy: guesses.eq(testLabels).float().mean().item() };
    }),
  onRound: ({ round, metrics, bytesUp }) => {
    const { accuracy, loss } = metrics;
    tell(round - 1, rounds, { loss, accuracy, "kB up": bytesUp / 1000 });
  },
});
for (let i = 0; i < kClients; i++) {
  const digits = digitsOf(train, i * kDigitsEach, (i + 1) * kDigitsEach);
  await join({ ...run, name: `client-${i}`, train: trainer(...digits) });
}
const { bytesUp, bytesDown } = await coordinator.finished;
console.log(`${bytesUp} bytes were sent by clients, and ${bytesDown} to them`);
const model = makeModel();
model.loadStateDict(coordinator.stateDict());
await exportIfWanted("federated", model.eval(), [asImages(testImages.narrow(0, 0, 2))]);
await nats.close();
