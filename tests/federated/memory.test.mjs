// Runs in the memory of one process: the same weights as through a server.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as eg from "edgegrad";
import { DiLoCo, FedAvg, MemoryNetwork, Scaffold } from "edgegrad/federated";
import { join, serve } from "./support/members.mjs";
import { referenceWeights } from "./support/reference.mjs";
import { countTensors, endOf, kNever } from "./support/runs.mjs";
import { makeModel, numbersOf, trainerOf } from "./support/task.mjs";

await eg.init();

const kUsual = { rounds: 3, minClients: 3, deadline: kNever, seed: 3, strategy: new FedAvg() };
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
  const history = await endOf(coordinator, clients);
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
    const { isComplete } = await endOf(await second, clients);
    assert.equal(isComplete, true);
    assert.deepEqual(numbersOf((await second).stateDict()), expected);
  });

  test("join() rejects with the reason of a signal that has been given", async () => {
    const more = { name: "client-0", train: trainerOf(0) };
    const reason = { why: "not today" };
    const joining = join({ ...newRun(), ...more, signal: AbortSignal.abort(reason) });
    await assert.rejects(joining, (error) => error === reason);
    await assert.rejects(join({ ...newRun(), ...more, signal: "now" }), {
      code: "InvalidArgument",
      message: /signal: expected an AbortSignal/,
    });
  });

  test("a client that leaves is not waited for", async () => {
    const run = newRun();
    // Before the run begins, so that the first round asks all of them.
    const clients = await joinAll(run, 2);
    const leaving = new AbortController();
    const train = async () => {
      leaving.abort();
      return { samples: 1 };
    };
    const last = await join({ ...run, name: "client-2", train, signal: leaving.signal });
    const options = { ...kUsual, minClients: 2, deadline: 100, maxExtensions: 100_000, rounds: 2 };
    const { rounds } = await endOf(await serve({ ...run, ...options }), [...clients, last]);
    assert.deepEqual(
      rounds.map((round) => round.clients),
      [
        ["client-0", "client-1"],
        ["client-0", "client-1"],
      ],
    );
    assert.equal(leaving.signal.aborted, true, "it was asked");
  });

  test("runs of one name in two networks have nothing in common", async () => {
    const [a, b] = [newRun(), newRun()];
    const coordinator = await serve({ ...a, ...kUsual, minClients: 1 });
    const elsewhere = await join({ ...b, train: trainerOf(0) });
    const client = await join({ ...a, train: trainerOf(0) });
    await endOf(coordinator, [client]);
    await elsewhere.leave();
  });

  for (const strategy of [new Scaffold({ clients: 3 }), new DiLoCo({ fragments: 2 })]) {
    const { name } = strategy.constructor;
    test(`rounds with ${name} leave no tensors behind, at the coordinator or at clients`, async () => {
      const { counts, evaluate, onRound } = countTensors(3);
      const compression = { dtype: "float16" };
      await wholeRun({ strategy, rounds: 10, evaluate, compression }, { onRound });
      // The clients make their state in the first rounds.
      assert.equal(counts.at(-1), counts[4], counts.join());
    });
  }
});
