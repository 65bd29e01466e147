// Coordinators, clients and servers that are killed, stopped, and started twice. The weights at the end must be, to the bit, those of a run without faults:
// an update that is lost or counted twice changes them.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as eg from "edgegrad";
import { FedAvg } from "edgegrad/federated";
import { startNats } from "../../examples/support/nats_server.mjs";
import { soon } from "../support/until.mjs";
import { join, serve } from "./support/members.mjs";
import { startClient, startCoordinator } from "./support/processes.mjs";
import { referenceWeights } from "./support/reference.mjs";
import { endOf, kNever } from "./support/runs.mjs";
import { makeModel, numbersOf, trainerOf } from "./support/task.mjs";
import { Wire } from "./support/wire.mjs";

const kIsLong = process.env.EG_FEDERATED_FAULTS === "1";
const kKills = kIsLong ? 20 : 2;
const kServerKills = kIsLong ? 10 : 1;
const kKillsPerMoment = kIsLong ? 5 : 1;
// A round is about 80 messages, with requests and answers.
const kMostMessages = 350;
const kSeed = 3;
const kClients = 3;
const kNames = ["client-a", "client-b", "client-c"];

let nats;
before(async () => {
  await eg.init();
  nats = await startNats();
});
after(() => nats.close());

/** Resolves after a random number of messages of any kind, which is a random point of a run. */
const randomPoint = (wire) => wire.pass(1 + Math.floor(Math.random() * kMostMessages));

const endOfAll = (clients) =>
  soon("end of the clients", Promise.all(clients.map(({ finished }) => finished)));

let runs = 0;
const newRun = (rounds) => ({
  servers: nats.url,
  run: `faults${runs++}`,
  rounds,
  minClients: kClients,
  deadline: kNever,
  lease: 300,
  seed: kSeed,
});

/** Three clients, each of which takes a few milliseconds per round, and `before` more. */
function joinAll({ servers, run }, { pause = 5, before = () => {} } = {}) {
  const joined = kNames.map((name, i) => {
    const train = trainerOf(i);
    return join({
      servers,
      run,
      model: makeModel,
      name,
      train: async (input) => {
        const ms = pause * (i + 1);
        await new Promise((resolve) => setTimeout(resolve, ms)); // timer: training takes a while
        await before(input);
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
    const wire = await Wire.open(nats.url, ">");
    let kills = 0;
    let result = null;
    while (result === null) {
      const coordinator = startCoordinator(run);
      if (kills < kKills) {
        await randomPoint(wire);
        await coordinator.kill();
        kills++;
      }
      result = await coordinator.result();
    }
    await wire.close();
    await endOfAll(clients);
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
      const clients = await joinAll(run);
      const subject = subjectOf(`edgegrad_${run.run}`, run.run);
      let result = null;
      for (let kills = 0; result === null; kills++) {
        // Before it starts, so that the run cannot be over before that many messages.
        const wire = await Wire.open(nats.url, subject);
        const coordinator = startCoordinator(run);
        if (kills < kKillsPerMoment) {
          // The first two can be those of a run that begins.
          await wire.pass(4 + (kills % 3));
          await coordinator.kill();
        }
        await wire.close();
        result = await coordinator.result();
      }
      await endOfAll(clients);
      checkRun(result, rounds);
    });
  }

  test("stands by while another one leads, and takes over", async (t) => {
    const rounds = 20;
    const run = newRun(rounds);
    const first = startCoordinator(run);
    await first.isReady();
    let goOn = () => {};
    const mayGoOn = new Promise((resolve) => {
      goOn = resolve;
    });
    const clients = await joinAll(run, { before: ({ round }) => round === 5 && mayGoOn });
    await first.hasEnded(4);
    // The clock by which the second one measures the lease.
    const start = performance.now();
    let passed = 0;
    const clock = t.mock.method(performance, "now", () => start + passed);
    const bucket = `edgegrad_${run.run}`;
    const wire = await Wire.open(nats.url, ">");
    const second = await serve({ ...run, model: makeModel, strategy: new FedAvg() });
    t.after(() => second.stop());
    // The server's answer to a write may pass before the write itself.
    const writeAndAnswer = () => {
      const writes = [];
      const subjects = new Set();
      return ({ subject, reply }) => {
        subjects.add(subject);
        if (subject === `$KV.${bucket}.leader`) writes.push(reply);
        return writes.some((one) => subjects.has(one));
      };
    };
    const looked = ({ subject }) =>
      subject === `$JS.API.DIRECT.GET.KV_${bucket}.$KV.${bucket}.leader`;
    // Several leases, in each of which the second one sees that the first has renewed its own.
    for (let lease = 0; lease < 3; lease++) {
      await wire.next("renewed lease", writeAndAnswer());
      await wire.next("look at the renewed lease", looked);
      // By now the second one has the answer.
      await wire.next("next look", looked);
      passed += run.lease - 1;
      await wire.skip();
    }
    await wire.close();
    clock.mock.restore();
    assert.equal(second.leads, false);
    assert.equal(second.round, 5);
    await first.kill();
    goOn();
    const history = await endOf(second, clients);
    assert.equal(second.leads, false, "nobody leads a finished run");
    checkRun({ history, weights: numbersOf(second.stateDict()) }, rounds);
  });

  test("that was paused while another one took over does no harm", async () => {
    const rounds = 15;
    // Neither may take the other one for lost while it is slow only.
    const run = { ...newRun(rounds), lease: 2000 };
    const first = startCoordinator(run);
    await first.isReady();
    const wire = await Wire.open(nats.url, ">");
    const clients = await joinAll(run, { pause: 10 });
    await randomPoint(wire);
    await wire.close();
    first.signal("SIGSTOP");
    const second = startCoordinator(run);
    await second.hasEnded(1);
    first.signal("SIGCONT");
    const [a, b] = await Promise.all([first.result(), second.result()]);
    await endOfAll(clients);
    checkRun(a, rounds);
    checkRun(b, rounds);
  });

  test("gives its lease back when it is stopped, and the run goes on later", async () => {
    const run = { ...newRun(6), lease: kNever };
    const clients = await joinAll(run);
    const options = { ...run, model: makeModel, strategy: new FedAvg() };
    const first = await serve({ ...options, onRound: ({ round }) => round === 3 && first.stop() });
    const stopped = await soon("end of the first coordinator", first.finished);
    assert.equal(stopped.isComplete, false);
    const second = await serve(options);
    const history = await endOf(second, clients);
    checkRun({ history, weights: numbersOf(second.stateDict()) }, 6);
  });
});

describe("clients", () => {
  test(`of which ${kKills} are killed at random points and started again send every update once`, async (t) => {
    const rounds = kKills * 8;
    const run = newRun(rounds);
    // Before the run begins, which could be over before this process hears of it.
    const wire = await Wire.open(nats.url, ">");
    const coordinator = startCoordinator(run);
    const { servers, run: name } = run;
    const start = (client) =>
      startClient({ servers, run: name, client, name: kNames[client], pause: 20 });
    const clients = kNames.map((_, client) => start(client));
    await Promise.all(clients.map((client) => client.isReady()));
    for (let kills = 0; kills < kKills; kills++) {
      await randomPoint(wire);
      const victim = Math.floor(Math.random() * kClients);
      await clients[victim].kill();
      clients[victim] = start(victim);
      await clients[victim].isReady();
    }
    const result = await coordinator.result();
    await Promise.all(clients.map((client) => client.ended()));
    await wire.close();
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
      await coordinator.isReady();
      const clients = await joinAll(run);
      for (let kills = 0; kills < kServerKills; kills++) {
        const wire = await Wire.open(own.url, ">");
        await randomPoint(wire);
        await wire.close();
        await own.kill();
        await own.start();
      }
      const result = await coordinator.result();
      await endOfAll(clients);
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
      await coordinator.isReady();
      const clients = await joinAll(run);
      for (let pause = 0; pause < (kIsLong ? 5 : 1); pause++) {
        const wire = await Wire.open(own.url, ">");
        await randomPoint(wire);
        await wire.close();
        own.signal("SIGSTOP");
        // Longer than clients wait for the record, and shorter than for an update to be stored.
        await new Promise((resolve) => setTimeout(resolve, 1500)); // timer: a server that is silent
        own.signal("SIGCONT");
      }
      const result = await coordinator.result();
      await endOfAll(clients);
      checkRun(result, 20);
    } finally {
      await own.close();
    }
  });
});
