// Runs in the memory of one process: the same weights as through a server.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as eg from "edgegrad";
import { DiLoCo, FedAvg, join, MemoryNetwork, Scaffold, serve } from "edgegrad/federated";
import { referenceWeights } from "./support/reference.mjs";
import { makeModel, numbersOf, trainerOf } from "./support/task.mjs";

await eg.init();

const kUsual = { rounds: 3, minClients: 3, deadline: 5000, seed: 3, strategy: new FedAvg() };
const newRun = (network = new MemoryNetwork()) => ({
  servers: network,
  run: "memory",
  model: makeModel,
});

const joinAll = (run, count = 3, more = {}) =>
  Promise.all(
    Array.from({ length: count }, (_, i) =>
      join({ ...run, name: `client-${i}`, train: trainerOf(i), ...more }),
    ),
  );

async function wholeRun(options, more) {
  const run = newRun();
  const coordinator = await serve({ ...run, ...kUsual, ...options });
  const clients = await joinAll(run, 3, more);
  const history = await coordinator.finished;
  await Promise.all(clients.map(({ finished }) => finished));
  return { history, weights: numbersOf(coordinator.stateDict()) };
}

function assertNear(found, expected, tolerance) {
  for (const [key, values] of Object.entries(expected)) {
    for (const [i, value] of values.entries()) {
      assert.ok(Math.abs(found[key][i] - value) <= tolerance, `${key}: ${found[key][i]}, ${value}`);
    }
  }
}

describe("in memory", () => {
  const expected = referenceWeights({ clients: 3, rounds: 3, seed: 3 });

  test("a run gives the mean to the bit", async () => {
    const { history, weights } = await wholeRun();
    assert.equal(history.isComplete, true);
    assert.equal(history.rounds.length, 3);
    assert.deepEqual(weights, expected);
  });

  test("with secure aggregation and fragments too", async () => {
    const { weights } = await wholeRun({ secureAggregation: {} });
    assertNear(weights, expected, 1e-5);
    const { history } = await wholeRun({ strategy: new DiLoCo({ fragments: 2 }) });
    assert.equal(history.rounds.length, 3);
  });

  test("a coordinator that is stopped hands over to the next", async () => {
    const run = newRun();
    const first = await serve({ ...run, ...kUsual, rounds: 3 });
    const second = serve({ ...run, ...kUsual, rounds: 3, strategy: new FedAvg() });
    const clients = await joinAll(run, 3, {
      onRound: ({ round }) => round === 1 && first.stop(),
    });
    const { finished, stateDict } = await second.then((one) => ({
      finished: one.finished,
      stateDict: () => one.stateDict(),
    }));
    const { isComplete } = await finished;
    await Promise.all(clients.map((client) => client.finished));
    assert.equal(isComplete, true);
    assert.deepEqual(numbersOf(stateDict()), expected);
  });

  test("a client that leaves is not waited for", async () => {
    const run = newRun();
    const options = { ...kUsual, minUpdates: 2, deadline: 300, rounds: 2 };
    const coordinator = await serve({ ...run, ...options, minClients: 2 });
    const [, , last] = await joinAll(run, 3);
    await last.leave();
    const { rounds } = await coordinator.finished;
    assert.equal(rounds.length, 2);
    assert.ok(rounds[1].clients.length >= 2);
  });

  test("runs of one name in two networks have nothing in common", async () => {
    const [a, b] = [newRun(), newRun()];
    const coordinator = await serve({ ...a, ...kUsual, minClients: 1 });
    const elsewhere = await join({ ...b, train: trainerOf(0) });
    const client = await join({ ...a, train: trainerOf(0) });
    await coordinator.finished;
    await client.finished;
    await elsewhere.leave();
  });

  for (const strategy of [new Scaffold({ clients: 3 }), new DiLoCo({ fragments: 2 })]) {
    const { name } = strategy.constructor;
    test(`rounds with ${name} leave no tensors behind, at the coordinator or at clients`, async () => {
      const counts = [];
      const onRound = () => counts.push(eg.memory().tensors);
      const compression = { dtype: "float16" };
      await wholeRun({ strategy, rounds: 10, onRound, compression });
      // The clients make their state in the first rounds.
      assert.ok(counts.at(-1) <= counts[4] + 8, counts.join());
    });
  }
});
