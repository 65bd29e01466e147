// Coordinators, clients and servers that are killed, stopped, and started twice. The weights at the end must be, to the bit, those of a run without faults:
// an update that is lost or counted twice changes them.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { connect } from "@nats-io/transport-node";
import * as eg from "edgegrad";
import { FedAvg, join, serve } from "edgegrad/federated";
import { startNats } from "../../examples/support/nats_server.mjs";
import { startClient, startCoordinator } from "./support/processes.mjs";
import { referenceWeights } from "./support/reference.mjs";
import { makeModel, numbersOf, trainerOf } from "./support/task.mjs";

const kIsLong = process.env.EG_FEDERATED_FAULTS === "1";
const kKills = kIsLong ? 20 : 2;
const kServerKills = kIsLong ? 10 : 1;
const kKillsPerMoment = kIsLong ? 5 : 1;
const kSeed = 3;
const kClients = 3;
const kNames = ["client-a", "client-b", "client-c"];

let nats;
before(async () => {
  await eg.init();
  nats = await startNats();
});
after(() => nats.close());

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

let runs = 0;
const newRun = (rounds) => ({
  servers: nats.url,
  run: `faults${runs++}`,
  rounds,
  minClients: kClients,
  deadline: 60_000,
  lease: 300,
  seed: kSeed,
});

/** Three clients, each of which takes a few milliseconds per round. */
function joinAll({ servers, run }, pause = 5) {
  const joined = kNames.map((name, i) => {
    const train = trainerOf(i);
    return join({
      servers,
      run,
      model: makeModel,
      name,
      train: async (input) => {
        await sleep(pause * (i + 1));
        return train(input);
      },
    });
  });
  return Promise.all(joined);
}

function checkRun({ history, weights }, rounds) {
  assert.equal(history.isComplete, true);
  assert.deepEqual(
    history.rounds.map(({ round, clients }) => [round, clients]),
    Array.from({ length: rounds }, (_, i) => [i + 1, kNames]),
  );
  for (const { refused } of history.rounds) {
    // What a server outage makes a client send twice may be refused as repeated or late.
    const reasons = Object.keys(refused).filter((one) => one !== "repeated" && one !== "late");
    assert.deepEqual(reasons, []);
  }
  const expected = referenceWeights({ clients: kClients, rounds, seed: kSeed });
  assert.deepEqual(weights, expected);
}

describe("a coordinator", () => {
  test(`killed ${kKills} times at random points goes on with the same round`, async (t) => {
    const rounds = kKills * 12;
    const run = newRun(rounds);
    const clients = await joinAll(run);
    let kills = 0;
    let result = null;
    while (result === null) {
      const coordinator = startCoordinator(run);
      if (kills < kKills) {
        await coordinator.isReady;
        await sleep(300 + Math.random() * 300);
        await coordinator.kill();
        kills++;
      }
      result = await coordinator.result;
    }
    await Promise.all(clients.map(({ finished }) => finished));
    checkRun(result, rounds);
    t.diagnostic(`${kills} kills in ${rounds} rounds`);
  });

  // The moments between two writes: each is a message that the server passes on.
  const kMoments = {
    "the next weights are stored": (bucket) => `$O.${bucket}.M.*`,
    "the record is written": (bucket) => `$KV.${bucket}.record`,
    "an update is stored": (_, run) => `edgegrad.${run}.update.*`,
  };
  for (const [moment, subjectOf] of Object.entries(kMoments)) {
    test(`killed when ${moment} loses nothing`, async () => {
      const rounds = 4 * kKillsPerMoment;
      const run = newRun(rounds);
      const watcher = await connect({ servers: nats.url });
      const clients = await joinAll(run);
      const subject = subjectOf(`edgegrad_${run.run}`, run.run);
      let result = null;
      for (let kills = 0; result === null; kills++) {
        const coordinator = startCoordinator(run);
        if (kills < kKillsPerMoment) {
          await coordinator.isReady;
          await watcher.flush();
          const watched = watcher.subscribe(subject, { max: 2 + (kills % 3) });
          for await (const _ of watched);
          await coordinator.kill();
        }
        result = await coordinator.result;
      }
      await Promise.all(clients.map(({ finished }) => finished));
      await watcher.close();
      checkRun(result, rounds);
    });
  }

  test("stands by while another one leads, and takes over", async () => {
    const rounds = 20;
    const run = newRun(rounds);
    const first = startCoordinator(run);
    await first.isReady;
    const clients = await joinAll(run, 10);
    const second = await serve({ ...run, model: makeModel, strategy: new FedAvg() });
    await sleep(400);
    assert.equal(second.leads, false);
    const standbyRound = second.round;
    await first.kill();
    const history = await second.finished;
    assert.equal(second.leads, false, "nobody leads a finished run");
    assert.ok(standbyRound < rounds);
    await Promise.all(clients.map(({ finished }) => finished));
    checkRun({ history, weights: numbersOf(second.stateDict()) }, rounds);
  });

  test("that was paused while another one took over does no harm", async () => {
    const rounds = 30;
    const run = newRun(rounds);
    const first = startCoordinator(run);
    await first.isReady;
    const clients = await joinAll(run, 10);
    await sleep(200 + Math.random() * 200);
    first.signal("SIGSTOP");
    const second = startCoordinator(run);
    await second.isReady;
    await sleep(600);
    first.signal("SIGCONT");
    const [a, b] = await Promise.all([first.result, second.result]);
    await Promise.all(clients.map(({ finished }) => finished));
    checkRun(a, rounds);
    checkRun(b, rounds);
  });

  test("gives its lease back when it is stopped, and the run goes on later", async () => {
    const run = { ...newRun(6), lease: 60_000 };
    const clients = await joinAll(run);
    const options = { ...run, model: makeModel, strategy: new FedAvg() };
    const first = await serve(options);
    while (first.round < 3) await sleep(5);
    await first.stop();
    const stopped = await first.finished;
    assert.equal(stopped.isComplete, false);
    const second = await serve(options);
    const history = await second.finished;
    await Promise.all(clients.map(({ finished }) => finished));
    checkRun({ history, weights: numbersOf(second.stateDict()) }, 6);
  });
});

describe("clients", () => {
  test(`of which ${kKills} are killed at random points and started again send every update once`, async (t) => {
    const rounds = kKills * 8;
    const run = { ...newRun(rounds), deadline: 2000 };
    const coordinator = startCoordinator(run);
    const { servers, run: name } = run;
    const start = (client) =>
      startClient({ servers, run: name, client, name: kNames[client], pause: 20 });
    const clients = kNames.map((_, client) => start(client));
    await Promise.all(clients.map(({ isReady }) => isReady));
    for (let kills = 0; kills < kKills; kills++) {
      await sleep(100 + Math.random() * 300);
      const victim = Math.floor(Math.random() * kClients);
      await clients[victim].kill();
      clients[victim] = start(victim);
      await clients[victim].isReady;
    }
    const result = await coordinator.result;
    await Promise.all(clients.map(({ ended }) => ended));
    checkRun(result, rounds);
    t.diagnostic(`${kKills} kills in ${rounds} rounds`);
  });
});

describe("a server", () => {
  test(`killed ${kServerKills} times and restarted keeps the run`, async (t) => {
    const own = await startNats();
    try {
      const rounds = kServerKills * 15;
      const run = { ...newRun(rounds), servers: own.url };
      const coordinator = startCoordinator(run);
      await coordinator.isReady;
      const clients = await joinAll(run);
      for (let kills = 0; kills < kServerKills; kills++) {
        await sleep(200 + Math.random() * 300);
        await own.kill();
        await own.start();
      }
      const result = await coordinator.result;
      await Promise.all(clients.map(({ finished }) => finished));
      checkRun(result, rounds);
      t.diagnostic(`${kServerKills} kills in ${rounds} rounds`);
    } finally {
      await own.close();
    }
  });

  test("that stops answering for a while keeps the run", async () => {
    const own = await startNats();
    try {
      const run = { ...newRun(20), servers: own.url };
      const coordinator = startCoordinator(run);
      await coordinator.isReady;
      const clients = await joinAll(run);
      for (let pause = 0; pause < (kIsLong ? 5 : 1); pause++) {
        await sleep(300);
        own.signal("SIGSTOP");
        await sleep(1500);
        own.signal("SIGCONT");
      }
      const result = await coordinator.result;
      await Promise.all(clients.map(({ finished }) => finished));
      checkRun(result, 20);
    } finally {
      await own.close();
    }
  });
});
