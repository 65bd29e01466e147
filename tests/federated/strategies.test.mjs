// Strategies, compression and privacy in whole runs.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as eg from "edgegrad";
import {
  DiLoCo,
  FedAdam,
  FedAvg,
  FedProx,
  FedYogi,
  Krum,
  RdpAccountant,
  Strategy,
  TrimmedMean,
} from "edgegrad/federated";
import { startNats } from "../../examples/support/nats_server.mjs";
import { soon } from "../support/until.mjs";
import { join, serve } from "./support/members.mjs";
import { referenceWeights } from "./support/reference.mjs";
import { countTensors, endOf, kNever } from "./support/runs.mjs";
import {
  accuracyOf,
  makeModel,
  numbersOf,
  pointsOf,
  trainerOf,
  trainSteps,
} from "./support/task.mjs";

let nats;
await eg.init();
before(async () => {
  nats = await startNats();
});
after(() => nats.close());

let runs = 0;
const newRun = () => ({ servers: nats.url, run: `strategies${runs++}`, model: makeModel });
const kUsual = { rounds: 3, minClients: 3, deadline: kNever, seed: 3 };

/** A whole run with clients 0, 1, 2...; returns the history, the coordinator and its weights. */
async function wholeRun(options, { clients = 3, trainer = trainerOf, onRound } = {}) {
  const run = newRun();
  const coordinator = await serve({ ...run, ...kUsual, strategy: new FedAvg(), ...options });
  const joined = await Promise.all(
    Array.from({ length: clients }, (_, i) =>
      join({ ...run, name: `client-${i}`, train: trainer(i), onRound }),
    ),
  );
  const history = await endOf(coordinator, joined);
  const state = coordinator.stateDict();
  return { history, state, weights: numbersOf(state) };
}

function accuracyFrom(state, clients = 3) {
  const model = makeModel();
  model.loadStateDict(state);
  return accuracyOf(model, clients);
}

describe("strategies in whole runs:", () => {
  const kStrategies = [
    [new FedProx({ mu: 0.1 }), 0.9],
    [new FedAdam({ lr: 0.1 }), 0.9],
    [new FedYogi({ lr: 0.1 }), 0.9],
    [new DiLoCo({ lr: 0.7 }), 0.9],
    [new TrimmedMean({ share: 0.34 }), 0.9],
    [new Krum({ byzantine: 0 }), 0.8],
  ];
  for (const [strategy, least] of kStrategies) {
    test(`${strategy.constructor.name} learns`, async () => {
      const { state } = await wholeRun({ strategy, rounds: 6 });
      const accuracy = accuracyFrom(state);
      assert.ok(accuracy >= least, `${accuracy}`);
    });
  }

  test("FedProx keeps clients nearer to the round's weights, by the gradient of its term", async () => {
    const mu = 2;
    const { weights } = await wholeRun(
      { strategy: new FedProx({ mu }), rounds: 1 },
      { clients: 3 },
    );
    eg.manualSeed(3);
    const model = makeModel();
    const start = model.parameters().map((one) => one.detach().clone());
    const [features, labels] = pointsOf(0);
    const optimizer = new eg.optim.SGD(model.parameters(), { lr: 0.2 });
    for (let step = 0; step < 5; step++) {
      const far = model.parameters().map((one, i) => one.sub(start[i]).square().sum());
      const loss = eg.crossEntropy(model.call(features), labels);
      optimizer.zeroGrad();
      far.reduce((sum, one) => sum.add(one.mul(mu / 2)), loss).backward();
      optimizer.step();
    }
    const alone = await wholeRun(
      { strategy: new FedProx({ mu }), rounds: 1, minClients: 1 },
      { clients: 1 },
    );
    const expected = numbersOf(model.stateDict());
    for (const [key, values] of Object.entries(alone.weights)) {
      for (const [i, value] of values.entries()) {
        assert.ok(Math.abs(value - expected[key][i]) < 1e-5);
      }
    }
    assert.notDeepEqual(weights, alone.weights);
  });

  test("one of the user's own, with what it remembers", async () => {
    class Slow extends Strategy {
      rounds = 0;
      aggregate(global, updates) {
        this.rounds++;
        const [{ weights }] = updates;
        return Object.fromEntries(
          Object.entries(global).map(([key, one]) => [key, one.add(weights[key]).div(2)]),
        );
      }
      stateDict() {
        return { rounds: this.rounds };
      }
      loadStateDict({ rounds }) {
        this.rounds = rounds;
      }
    }
    const strategy = new Slow();
    await wholeRun({ strategy });
    assert.equal(strategy.rounds, 3);
  });

  test("one that returns something else ends the run with an error", async () => {
    class Wrong extends Strategy {
      aggregate() {
        return { weight: eg.zeros([1]) };
      }
    }
    const run = newRun();
    const options = { ...kUsual, minClients: 1 };
    const coordinator = await serve({ ...run, ...options, strategy: new Wrong() });
    const client = await join({ ...run, train: trainerOf(0) });
    await assert.rejects(
      soon("error", coordinator.finished),
      /\[Wrong\.aggregate\] it must return 4 tensors/,
    );
    await client.leave();
  });
});

test("rounds leave no tensors behind, at the coordinator or at clients", async () => {
  const { counts, evaluate, onRound } = countTensors(3);
  const compression = { dtype: "int8" };
  await wholeRun({ strategy: new DiLoCo(), rounds: 8, evaluate, compression }, { onRound });
  // The clients make their state in the first rounds.
  assert.equal(counts.at(-1), counts[3], counts.join());
});

test("evaluate() that returns no metrics ends the run with an error", async () => {
  const run = newRun();
  const options = { ...kUsual, minClients: 1, strategy: new FedAvg() };
  const coordinator = await serve({ ...run, ...options, evaluate: () => ({ accuracy: NaN }) });
  const client = await join({ ...run, train: trainerOf(0) });
  await assert.rejects(
    soon("error", coordinator.finished),
    /\[serve\] evaluate: expected at most 64 finite/,
  );
  await client.leave();
});

describe("compression", () => {
  const kWide = () =>
    new eg.nn.Sequential(new eg.nn.Linear(8, 512), new eg.nn.Tanh(), new eg.nn.Linear(512, 4));
  const kChoices = [
    [{ dtype: "float16" }, 1.9],
    [{ dtype: "int8" }, 3.5],
    [{ dtype: "float16", topK: 0.1 }, 5],
  ];
  for (const [compression, factor] of kChoices) {
    test(`${JSON.stringify(compression)} takes ${factor} times fewer bytes, and learns as well`, async () => {
      const run = async (more) => {
        const base = { ...newRun(), model: kWide };
        const options = { ...kUsual, rounds: 5, strategy: new FedAvg(), ...more };
        const coordinator = await serve({ ...base, ...options });
        const clients = await Promise.all(
          [0, 1, 2].map((i) => join({ ...base, name: `c${i}`, train: trainerOf(i, { lr: 0.05 }) })),
        );
        const history = await endOf(coordinator, clients);
        const model = kWide();
        model.loadStateDict(coordinator.stateDict());
        return { history, accuracy: accuracyOf(model, 3) };
      };
      const plain = await run({});
      const small = await run({ compression });
      assert.ok(plain.history.bytesUp / small.history.bytesUp > factor);
      assert.ok(small.accuracy >= plain.accuracy - 0.02, `${small.accuracy}, ${plain.accuracy}`);
      for (const { refused } of small.history.rounds) assert.deepEqual(refused, {});
    });
  }
});

describe("privacy", () => {
  test("clips, adds noise to the mean and reports the accountant's epsilon", async () => {
    const privacy = { clip: 0.5, noiseMultiplier: 1.5, delta: 1e-4 };
    const { history, weights } = await wholeRun({ privacy, rounds: 2 });
    const accountant = new RdpAccountant();
    for (const { epsilon } of history.rounds) {
      accountant.step({ noiseMultiplier: 1.5 });
      assert.ok(Math.abs(epsilon - accountant.epsilon(1e-4)) < 1e-9);
    }
    assert.notDeepEqual(weights, referenceWeights({ clients: 3, rounds: 2, seed: 3 }));
  });

  test("without much noise is the mean of the clipped differences", async () => {
    const clip = 0.05;
    const privacy = { clip, noiseMultiplier: 1e-6 };
    const { weights } = await wholeRun({ privacy, rounds: 1 });
    eg.manualSeed(3);
    const start = Object.values(numbersOf(makeModel().stateDict())).flat();
    const mean = start.map(() => 0);
    for (let client = 0; client < 3; client++) {
      eg.manualSeed(3);
      const model = makeModel();
      trainSteps(model, pointsOf(client));
      const change = Object.values(numbersOf(model.stateDict()))
        .flat()
        .map((one, i) => one - start[i]);
      const norm = Math.hypot(...change);
      assert.ok(norm > clip);
      for (const [i, one] of change.entries()) mean[i] += (one * clip) / norm / 3;
    }
    const found = Object.keys(makeModel().stateDict()).flatMap((key) => weights[key]);
    for (const [i, one] of found.entries()) {
      assert.ok(Math.abs(one - start[i] - mean[i]) < 1e-5);
    }
  });

  test("is refused with strategies that need the single updates", async () => {
    const privacy = { clip: 1, noiseMultiplier: 1 };
    const strategy = new TrimmedMean({ share: 0.1 });
    await assert.rejects(
      serve({ ...newRun(), ...kUsual, strategy, privacy }),
      /privacy: TrimmedMean/,
    );
  });
});
