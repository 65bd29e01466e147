// Federated training: a NATS server, a coordinator and four clients, each of which has two digits of MNIST. `--strategy diloco` takes
// DiLoCo instead of FedAvg; `--compression int8` sends updates of one byte per weight; `--picture FILE.svg` draws the accuracy, and that of a
// training on one machine that has all digits. A step is a round.

import { parseArgs } from "node:util";
import * as eg from "edgegrad";
import { DiLoCo, FedAvg, join, serve } from "edgegrad/federated";
import { drawCurves } from "./support/curves.mjs";
import { asImages, loadDigits } from "./support/digits.mjs";
import * as task from "./support/federated_task.mjs";
import { startNats } from "./support/nats_server.mjs";
import { exportIfWanted } from "./support/onnx.mjs";
import { kSteps, stepsOf, tell } from "./support/steps.mjs";

const kClients = 4;
const kDigitsEach = 2;
const kBatch = 64;
const text = { type: "string" };
const { strategy, compression, picture, ...values } = parseArgs({
  options: {
    ...kSteps,
    strategy: { ...text, default: "fedavg" },
    compression: text,
    picture: text,
  },
}).values;
if (!["fedavg", "diloco"].includes(strategy)) throw new Error(`--strategy: no ${strategy}`);
const rounds = stepsOf(values.steps, 200);
await eg.init();
eg.manualSeed(0);
const { train, test } = loadDigits();
const allDigits = [0, kClients * kDigitsEach];
const testDigits = task.digitsOf(test, ...allDigits);

const isDiLoCo = strategy === "diloco";
const sgd = (lr) => (model) => new eg.optim.SGD(model.parameters(), { lr });
// What a client does in a round: few steps, because two digits lead away from the others; and plain ones, because those of AdamW have
// the same length in the directions in which clients with different digits do not agree.
const kStepsOfRound = 4;
const makeOptimizer = sgd(isDiLoCo ? 0.03 : 0.15);

/** The function `train` of the client that has some digits. */
function trainer(digits) {
  return async ({ model, signal }) => {
    const optimizer = makeOptimizer(model);
    let loss = 0;
    for (let step = 0; step < kStepsOfRound && !signal.aborted; step++) {
      loss = task.trainStep(model, optimizer, digits, kBatch);
    }
    return { samples: kStepsOfRound * kBatch, metrics: { loss } };
  };
}

const nats = await startNats();
const run = { servers: nats.url, run: "digits", model: task.makeModel };
const coordinator = await serve({
  ...run,
  strategy: isDiLoCo ? new DiLoCo() : new FedAvg(),
  rounds,
  minClients: kClients,
  deadline: 60_000,
  ...(compression && { compression: { dtype: compression } }),
  evaluate: ({ model }) => ({ accuracy: task.accuracyOf(model, testDigits) }),
  onRound: ({ round, metrics, bytesUp }) => {
    const { accuracy, loss } = metrics;
    tell(round - 1, rounds, { loss, accuracy, "kB up": bytesUp / 1000 });
  },
});
for (let i = 0; i < kClients; i++) {
  const digits = task.digitsOf(train, i * kDigitsEach, (i + 1) * kDigitsEach);
  await join({ ...run, name: `client-${i}`, train: trainer(digits) });
}
const history = await coordinator.finished;
console.log(`${history.bytesUp} bytes were sent by clients, and ${history.bytesDown} to them`);

if (picture !== undefined) {
  const steps = { rounds, steps: kStepsOfRound, batch: kClients * kBatch, optimizer: sgd(0.15) };
  const alone = task.accuracyAlone(task.digitsOf(train, ...allDigits), testDigits, steps);
  const federated = history.rounds.map(({ round, metrics }) => [round, metrics.accuracy]);
  const title = `MNIST by ${kClients} clients with ${kDigitsEach} digits each`;
  const curves = { [strategy]: federated, "one machine": alone };
  drawCurves(picture, { title, x: "round", y: "accuracy", curves });
  console.log(`${picture} shows the accuracy, and that of one machine with all digits`);
}
const model = task.makeModel();
model.loadStateDict(coordinator.stateDict());
await exportIfWanted("federated", model.eval(), [asImages(testDigits[0].narrow(0, 0, 2))]);
await nats.close();
