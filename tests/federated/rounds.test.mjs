// Whole runs: a coordinator and clients in one process, with a real server between them.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as eg from "edgegrad";
import { FedAvg } from "edgegrad/federated";
import { startNats } from "../../examples/support/nats_server.mjs";
import { join, serve } from "./support/members.mjs";
import { endOf, kNever } from "./support/runs.mjs";
import { makeModel, numbersOf, pointsOf, trainerOf, trainSteps } from "./support/task.mjs";

let nats;
before(async () => {
  await eg.init();
  nats = await startNats();
});
after(() => nats.close());

let runs = 0;
const newRun = () => ({ servers: nats.url, run: `run${runs++}`, model: makeModel });
const kUsual = { rounds: 3, minClients: 1, deadline: kNever };

describe("a run", () => {
  test("with one client equals plain training to the bit", async () => {
    const run = newRun();
    const coordinator = await serve({ ...run, ...kUsual, strategy: new FedAvg(), seed: 5 });
    const client = await join({ ...run, train: trainerOf(0) });
    const history = await endOf(coordinator, [client]);
    eg.manualSeed(5);
    const plain = makeModel();
    for (let round = 0; round < kUsual.rounds; round++) trainSteps(plain, pointsOf(0));
    assert.deepEqual(numbersOf(coordinator.stateDict()), numbersOf(plain.stateDict()));
    assert.equal(history.isComplete, true);
    assert.deepEqual(
      history.rounds.map(({ round, clients, samples }) => [round, clients.length, samples]),
      [1, 2, 3].map((round) => [round, 1, 64]),
    );
  });
});
