// Clients that leave, are late, come back, or fail; and options that are refused.

import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { jetstream } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import * as eg from "edgegrad";
import { DiLoCo, FedAvg, Krum } from "edgegrad/federated";
import { startNats } from "../../examples/support/nats_server.mjs";
import { soon } from "../support/until.mjs";
import { leaveAtEnd } from "./support/leaving.mjs";
import { join, serve } from "./support/members.mjs";
import { otherCoordinator } from "./support/other_coordinator.mjs";
import { referenceWeights } from "./support/reference.mjs";
import { endOf, kNever, passDeadline } from "./support/runs.mjs";
import { makeModel, numbersOf, trainerOf } from "./support/task.mjs";
import { Wire } from "./support/wire.mjs";

let nats;
await eg.init();
before(async () => {
  nats = await startNats();
});
after(() => nats.close());

let runs = 0;
const newRun = () => ({ servers: nats.url, run: `clients${runs++}`, model: makeModel });
const kUsual = { rounds: 3, minClients: 3, deadline: kNever, seed: 3 };

describe("a client", () => {
  test("hears of the abort of its training when it leaves, and the round goes on without it", async () => {
    const run = newRun();
    const options = { ...kUsual, minUpdates: 2, deadline: 100, maxExtensions: 100_000, rounds: 1 };
    const coordinator = await serve({ ...run, ...options, strategy: new FedAvg() });
    const others = await Promise.all(
      [0, 1].map((i) => join({ ...run, name: `client-${i}`, train: trainerOf(i) })),
    );
    const leaving = new AbortController();
    let aborted = false;
    const client = await join({
      ...run,
      name: "leaves",
      signal: leaving.signal,
      train: async ({ signal }) => {
        leaving.abort();
        aborted = signal.aborted;
        return { samples: 1 };
      },
    });
    const { rounds } = await endOf(coordinator, [...others, client]);
    assert.equal(aborted, true);
    assert.deepEqual(rounds[0].clients, ["client-0", "client-1"]);
  });

  test("that is too slow is aborted, told that it is late, and takes part in the next round", async () => {
    const run = newRun();
    const some = { minClients: 2, minUpdates: 1, rounds: 2 };
    const options = { ...run, ...kUsual, ...some, strategy: new FedAvg() };
    const first = await serve(options);
    let isTraining = () => {};
    const slowTrains = new Promise((resolve) => {
      isTraining = resolve;
    });
    const outcomes = [];
    const slow = await join({
      ...run,
      name: "slow",
      onRound: ({ round, outcome }) => outcomes.push([round, outcome]),
      train: async ({ round, signal, model }) => {
        isTraining();
        if (round === 1 && !signal.aborted) await once(signal, "abort");
        return trainerOf(1)({ model });
      },
    });
    let quick = null;
    const quickSent = new Promise((resolve) => {
      quick = join({ ...run, name: "quick", train: trainerOf(0), onRound: resolve });
    });
    await soon("round of both", Promise.all([slowTrains, quickSent]));
    const coordinator = await passDeadline(first, options);
    const { rounds } = await endOf(coordinator, [await quick, slow]);
    assert.deepEqual(
      rounds.map(({ clients }) => clients),
      [["quick"], ["quick", "slow"]],
    );
    assert.deepEqual(outcomes, [
      [1, "late"],
      [2, "sent"],
    ]);
  });

  test("that is started again after it has sent its update does not train again", async () => {
    const run = newRun();
    const options = { ...kUsual, minClients: 2, rounds: 2 };
    const coordinator = await serve({ ...run, ...options, strategy: new FedAvg() });
    let mayEnd = () => {};
    const isSent = new Promise((resolve) => {
      mayEnd = resolve;
    });
    const trained = [];
    const train = async (input) => {
      trained.push(input.round);
      return trainerOf(1)(input);
    };
    const other = await join({
      ...run,
      name: "client-0",
      train: async (input) => {
        await isSent;
        return trainerOf(0)(input);
      },
    });
    let first = null;
    const sent = new Promise((resolve) => {
      first = join({ ...run, name: "client-1", train, onRound: resolve });
    });
    await soon("update of the first one", sent);
    await (await first).leave();
    const wire = await Wire.open(nats.url, `edgegrad.${run.run}.ask.client-1`);
    const again = await join({ ...run, name: "client-1", train });
    const asksFor = (what) => (message) => message.headers.get("EdgeGrad-Ask") === what;
    await wire.next("question for its last update", asksFor("verdict"));
    // It asks for the record again when it has done what there is to do in the round.
    await wire.next("question for the record", asksFor("record"));
    await wire.close();
    mayEnd();
    await endOf(coordinator, [other, again]);
    assert.deepEqual(trained, [1, 2]);
    assert.deepEqual(
      numbersOf(coordinator.stateDict()),
      referenceWeights({ clients: 2, rounds: 2, seed: 3 }),
    );
  });

  test("rejects with what train() throws, and with what it should not return", async () => {
    const run = newRun();
    const options = { ...kUsual, minClients: 1, rounds: 1 };
    const coordinator = await serve({ ...run, ...options, strategy: new FedAvg() });
    const failure = new Error("no data");
    const failing = await join({
      ...run,
      name: "client-0",
      train: async () => {
        throw failure;
      },
    });
    await assert.rejects(soon("error", failing.finished), (error) => error === failure);
    for (const [result, message] of [
      [undefined, /train: expected a promise of \{ samples, metrics\? \}, got undefined/],
      [{ samples: 0 }, /samples: expected a whole number of at least 1/],
      [{ samples: 1, metrics: { loss: NaN } }, /metrics: expected at most 64 finite numbers/],
    ]) {
      const client = await join({ ...run, name: "client-0", train: async () => result });
      await assert.rejects(soon("error", client.finished), message);
    }
    const good = await join({ ...run, name: "client-0", train: trainerOf(0) });
    await endOf(coordinator, [good]);
  });

  test("takes part in a round that is announced while it asks for the record", async () => {
    const run = newRun();
    const coordinator = await serve({ ...run, ...kUsual, minClients: 1, strategy: new FedAvg() });
    const joinAs = (train) => join({ ...run, name: "client", train });
    const rejected = await joinAs(() => {
      throw new Error("not yet");
    });
    await assert.rejects(soon("error", rejected.finished), /not yet/);
    await coordinator.stop();

    const connection = await connect({ servers: nats.url });
    leaveAtEnd(() => connection.close());
    const other = await otherCoordinator({ connection, js: jetstream(connection), run: run.run });
    let announced = null;
    await other.answer({
      join: () => Buffer.alloc(0),
      record: async () => {
        announced ??= other.announce();
        await announced;
      },
      verdict: () => Buffer.from(JSON.stringify({ state: "none" })),
    });
    let isTraining = () => {};
    const training = new Promise((resolve) => {
      isTraining = resolve;
    });
    const client = await joinAs(async ({ round }) => {
      isTraining(round);
      return { samples: 1 };
    });
    assert.equal(await soon("training", training), 1);
    await client.leave();
    await connection.close();
  });

  test("joins a run before it begins", async () => {
    const run = newRun();
    const wire = await Wire.open(nats.url, `edgegrad.${run.run}.here.*`);
    const client = await join({ ...run, train: trainerOf(0) });
    await wire.next("sign of life");
    await wire.close();
    const options = { ...kUsual, minClients: 1, rounds: 1 };
    const coordinator = await serve({ ...run, ...options, strategy: new FedAvg() });
    const { rounds } = await endOf(coordinator, [client]);
    assert.equal(rounds.length, 1);
  });

  test("sends an update larger than a message in parts", async () => {
    const run = { ...newRun(), model: () => new eg.nn.Linear(1000, 400) };
    const options = { ...kUsual, minClients: 1, rounds: 2 };
    const coordinator = await serve({ ...run, ...options, strategy: new FedAvg() });
    const client = await join({
      ...run,
      train: async ({ model, round }) => {
        eg.noGrad(() => model.bias.fill_(round));
        return { samples: 1 };
      },
    });
    const { rounds } = await endOf(coordinator, [client]);
    assert.ok(rounds[0].bytesUp > 1_600_000);
    assert.equal(coordinator.stateDict().bias.max().item(), 2);
  });
});

describe("options", () => {
  const kRefused = [
    [{ rounds: 0 }, /\[serve\] rounds: expected a whole number of at least 1, got 0/],
    [{ run: "a.b" }, /run: expected 1 to 64 letters, digits, hyphens and underscores, got "a\.b"/],
    [{ strategy: "FedAvg" }, /strategy: expected a strategy such as new FedAvg\(\), got "FedAvg"/],
    [{ strategy: new Krum({ byzantine: 1 }) }, /minUpdates: Krum needs 5 updates, got 3/],
    [{ min_clients: 2 }, /there is no option "min_clients"\. Write minClients/],
    [{ servers: [] }, /servers: expected an address such as/],
    [{ servers: "nats://127.0.0.1:1" }, /cannot connect to nats:\/\/127\.0\.0\.1:1/],
    [{ limits: { norms: 1 } }, /there is no option "norms"/],
    [
      { compression: { dtype: "int4" } },
      /compression\.dtype: expected "float32" or "float16" or "int8"/,
    ],
    [
      { privacy: { clip: 1 } },
      /privacy\.noiseMultiplier: expected a number above 0, got undefined/,
    ],
  ];
  for (const [options, message] of kRefused) {
    test(`are refused: ${message.source.slice(0, 50)}`, async () => {
      const strategy = new FedAvg();
      await assert.rejects(serve({ ...newRun(), ...kUsual, strategy, ...options }), (error) => {
        assert.equal(error.code, "InvalidArgument");
        assert.match(error.message, message);
        return true;
      });
    });
  }

  test("that do not fit the run as it was begun are refused", async () => {
    const run = newRun();
    const options = { ...run, ...kUsual, strategy: new FedAvg() };
    const first = await serve(options);
    await assert.rejects(
      serve({ ...options, strategy: new DiLoCo() }),
      /strategy "FedAvg", got "DiLoCo"/,
    );
    await assert.rejects(serve({ ...options, compression: {} }), /compression null, got \{"dtype"/);
    const other = { ...options, model: () => new eg.nn.Linear(2, 2) };
    await assert.rejects(serve(other), /\[loadStateDict\]/);
    await first.stop();
  });
});
