// Which versions of clients take part, and revisions that a share of the clients trains first. The weights of both revisions must be, to
// the bit, those of two runs, each with its clients only.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as eg from "edgegrad";
import {
  deleteRun,
  FedAdam,
  FedAvg,
  listRuns,
  MemoryNetwork,
  rollBackRun,
  rollOutRun,
  withdrawRollout,
} from "edgegrad/federated";
import { startNats } from "../../examples/support/nats_server.mjs";
import { until } from "../support/until.mjs";
import { join, serve } from "./support/members.mjs";
import { countTensors, endOf, kNever } from "./support/runs.mjs";
import { makeModel, numbersOf, pointsOf, trainSteps } from "./support/task.mjs";

const kNames = ["client-0", "client-1", "client-2", "client-3"];
const kSeed = 3;

let nats;
await eg.init();
before(async () => {
  nats = await startNats();
});
after(() => nats.close());

let runs = 0;
const newRun = () => ({ servers: nats.url, run: `rollout${runs++}`, model: makeModel });
const where = ({ servers, run }) => ({ servers, run });
const statusOf = async ({ servers, run }) =>
  (await listRuns({ servers })).find((one) => one.run === run);
const copyOf = (state) =>
  Object.fromEntries(Object.entries(state).map(([key, one]) => [key, one.detach().clone()]));

/** Joins clients that train with as many steps as the config says; `told` gets what train() gets, and `act` is called in each round. */
function joinAll(run, told, act = () => {}, onRound = () => {}) {
  const joined = kNames.map((name, i) => {
    const points = pointsOf(i);
    return join({
      ...run,
      name,
      onRound,
      train: async ({ model, round, revision, config }) => {
        told.push({ name, round, revision, config });
        if (i === 0) await act(round);
        trainSteps(model, points, config.steps ?? 2);
        return { samples: points[1].numel, metrics: { steps: config.steps ?? 2 } };
      },
    });
  });
  return Promise.all(joined);
}

/** What one run with some of the clients comes to in some rounds: the weights, as plain numbers and as tensors. */
function trained(strategy, first, clients, rounds, steps) {
  const model = makeModel();
  let global = copyOf(first);
  for (let round = 1; round <= rounds; round++) {
    const updates = clients.map((client) => {
      model.loadStateDict(global);
      const points = pointsOf(kNames.indexOf(client));
      trainSteps(model, points, steps);
      return { client, samples: points[1].numel, weights: copyOf(model.stateDict()) };
    });
    global = eg.noGrad(() => copyOf(strategy.aggregate(global, updates, round)));
  }
  return global;
}

function firstWeights() {
  eg.manualSeed(kSeed);
  return copyOf(makeModel().stateDict());
}

const kUsual = { minClients: kNames.length, deadline: kNever, seed: kSeed };
const kStrategies = { FedAvg: () => new FedAvg(), FedAdam: () => new FedAdam({ lr: 0.1 }) };

describe("versions of clients", () => {
  test("that the run does not accept are refused, told of and counted", async () => {
    const run = newRun();
    const events = [];
    const coordinator = await serve({
      ...{ ...run, ...kUsual, minClients: 1, rounds: 1, strategy: new FedAvg() },
      clientVersions: [">=1.2.0 <2.0.0", "~3.0.1"],
      onEvent: (event) => events.push(event),
    });
    await until("coordinator that leads", () => coordinator.leads);
    const train = async () => ({ samples: 1 });
    const refused =
      /\[join\] version: run "rollout\d+" takes clients of >=1\.2\.0 <2\.0\.0 \|\| ~3\.0\.1, got/;
    await assert.rejects(join({ ...run, train, name: "old", version: "1.1.9" }), refused);
    await assert.rejects(join({ ...run, train, name: "new", version: "3.1.0" }), refused);
    await assert.rejects(join({ ...run, train, name: "none" }), / got none\. Update this client/);
    const found = events.filter(({ reason }) => reason === "version");
    assert.deepEqual(
      found.map(({ type, client, level }) => [type, client, level]),
      ["old", "new", "none"].map((name) => ["refused", name, "warning"]),
    );
    let versions = null;
    const good = await join({
      ...run,
      version: "3.0.4",
      train: async () => {
        versions = coordinator.clientVersions;
        return { samples: 1 };
      },
    });
    await endOf(coordinator, [good]);
    assert.deepEqual(versions, { "3.0.4": 1 });
    await deleteRun(where(run));
  });

  const kRanges = {
    "^1.2.3": { in: ["1.2.3", "1.10.0"], out: ["1.2.2", "2.0.0"] },
    "^0.2.3": { in: ["0.2.3", "0.2.9"], out: ["0.2.2", "0.3.0"] },
    "^0.0.3": { in: ["0.0.3"], out: ["0.0.2", "0.0.4"] },
    "~1.2.3": { in: ["1.2.3", "1.2.10"], out: ["1.3.0"] },
    ">1.2.3 <=2.0.0": { in: ["1.2.4", "2.0.0"], out: ["1.2.3", "2.0.1"] },
    "1.2.3 || =2.0.0": { in: ["1.2.3", "2.0.0"], out: ["1.2.4", "1.9.9"] },
  };
  for (const [clientVersions, { in: inside, out }] of Object.entries(kRanges)) {
    test(`of ${clientVersions}`, async () => {
      const run = { servers: new MemoryNetwork(), run: "versions", model: makeModel };
      const options = { ...kUsual, rounds: 1, strategy: new FedAvg(), onEvent: () => {} };
      const coordinator = await serve({ ...run, ...options, clientVersions });
      await until("coordinator that leads", () => coordinator.leads);
      const train = async () => ({ samples: 1 });
      for (const version of inside) await (await join({ ...run, train, version })).leave();
      for (const version of out) {
        await assert.rejects(join({ ...run, train, version }), /takes clients of/, version);
      }
      await coordinator.stop();
    });
  }

  test("are checked as options", async () => {
    const options = { ...newRun(), ...kUsual, rounds: 1, strategy: new FedAvg() };
    for (const clientVersions of ["1.2", ">= 1.2.0", "", [], [12], "1.0.0-beta.1"]) {
      await assert.rejects(
        serve({ ...options, clientVersions }),
        /\[serve\] clientVersions: expected versions or ranges/,
      );
    }
    const train = async () => ({ samples: 1 });
    await assert.rejects(
      join({ ...newRun(), train, version: "v1" }),
      /version: expected a version such as/,
    );
  });
});

describe("a revision", () => {
  for (const [strategyName, makeStrategy] of Object.entries(kStrategies)) {
    test(`is trained by a share of the clients, by more, and by all (${strategyName})`, async () => {
      const run = newRun();
      const told = [];
      const events = [];
      const options = {
        ...{ ...run, ...kUsual, rounds: 6, strategy: makeStrategy(), config: { steps: 2 } },
        onEvent: (event) => events.push(event),
        evaluate: ({ revision }) => ({ own: Number(revision === "") }),
      };
      const coordinator = await serve(options);
      const next = { ...where(run), revision: "v2" };
      const clients = await joinAll(run, told, async (round) => {
        if (round === 1) await rollOutRun({ ...next, share: 0.5, config: { steps: 4 } });
        if (round === 3) await rollOutRun({ ...next, share: 0.8 });
        if (round === 5) await rollOutRun({ ...next, share: 1 });
      });
      const { rounds } = await endOf(coordinator, clients);
      const tried = rounds.map(({ rollout }) => rollout?.clients ?? []);
      const [, few, , more] = tried;
      assert.ok(few.length > 0 && few.length < more.length && more.length < 4, `${few} ${more}`);
      assert.deepEqual(tried, [[], few, few, more, more, []]);
      assert.ok(few.every((name) => more.includes(name)));
      for (const { name, round, revision, config } of told) {
        const isNew = round === 6 || tried[round - 1].includes(name);
        const expected = isNew ? ["v2", { steps: 4 }] : ["", { steps: 2 }];
        assert.deepEqual([revision, config], expected, `${name} in round ${round}`);
      }
      assert.deepEqual(rounds[1].metrics, { steps: 2, own: 1 });
      assert.deepEqual(rounds[1].rollout.metrics, { steps: 4, own: 0 });
      assert.deepEqual(rounds[1].clients, kNames);
      const said = events.filter(({ type }) => ["rolledOut", "promoted"].includes(type));
      assert.deepEqual(
        said.map(({ type, round, message }) => [type, round, message]),
        [
          ["rolledOut", 2, '50 % of the clients train revision "v2".'],
          ["rolledOut", 4, '80 % of the clients train revision "v2".'],
          ["promoted", 6, 'revision "v2" is that of the run; all clients train it.'],
        ],
      );
      const strategy = makeStrategy();
      const first = trained(strategy, firstWeights(), kNames, 1, 2);
      const early = trained(strategy, first, few, 2, 4);
      const wide = trained(strategy, early, more, 2, 4);
      assert.deepEqual(
        numbersOf(coordinator.stateDict()),
        numbersOf(trained(strategy, wide, kNames, 1, 4)),
      );
      const { revision, rollout } = await statusOf(run);
      assert.deepEqual([revision, rollout], ["v2", null]);
      await assert.rejects(rollOutRun({ ...next, share: 0.5 }), /"v2" is that of run/);
      await deleteRun(where(run));
    });
  }

  test("leaves no tensors behind", async () => {
    const run = newRun();
    const { counts, evaluate, onRound } = countTensors(kNames.length);
    const coordinator = await serve({
      ...{ ...run, ...kUsual, rounds: 8, strategy: new FedAdam(), onEvent: () => {} },
      // That of the candidate comes first.
      evaluate: (input) => (input.revision === "" ? evaluate(input) : {}),
    });
    const act = async (round) => {
      if (round === 1) await rollOutRun({ ...where(run), revision: "v2", share: 0.5 });
    };
    const clients = await joinAll(run, [], act, onRound);
    await endOf(coordinator, clients);
    assert.equal(counts.at(-1), counts[4], counts.join());
    await deleteRun(where(run));
  });

  test("with weights of its own is withdrawn without a trace, also after another coordinator took over", async () => {
    const run = newRun();
    const told = [];
    const options = { ...run, ...kUsual, rounds: 4, config: { steps: 2 }, onEvent: () => {} };
    const first = await serve({ ...options, strategy: new FedAdam({ lr: 0.1 }) });
    eg.manualSeed(99);
    const weights = eg.io.saveSafetensors(makeModel().stateDict());
    let stop = null;
    const clients = await joinAll(run, told, async (round) => {
      const next = { ...where(run), revision: "v2", share: 0.5 };
      if (round === 1) await rollOutRun({ ...next, weights });
      if (round === 1) {
        await assert.rejects(rollOutRun({ ...next, revision: "v3" }), /"v2" is being rolled out/);
        await assert.rejects(rollOutRun({ ...next, config: {} }), /only its share can change/);
      }
      if (round === 2) stop ??= { isOver: first.stop() };
      if (round === 3) await withdrawRollout(where(run));
    });
    await until("second round", () => stop);
    await stop.isOver;
    const second = await serve({ ...options, strategy: new FedAdam({ lr: 0.1 }) });
    const { rounds } = await endOf(second, clients);
    const tried = rounds[1].rollout.clients;
    assert.deepEqual(
      rounds.map(({ rollout }) => rollout?.clients ?? []),
      [[], tried, tried, []],
    );
    const strategy = new FedAdam({ lr: 0.1 });
    const others = kNames.filter((name) => !tried.includes(name));
    const one = trained(strategy, firstWeights(), kNames, 1, 2);
    const two = trained(strategy, one, others, 2, 2);
    const expected = trained(strategy, two, kNames, 1, 2);
    assert.deepEqual(numbersOf(second.stateDict()), numbersOf(expected));
    await assert.rejects(withdrawRollout(where(run)), /no revision is being rolled out/);
    await deleteRun(where(run));
  });

  test("with weights of another model is told of, and the run goes on without it", async () => {
    const run = newRun();
    const events = [];
    const onEvent = (event) => events.push(event);
    const options = { ...run, ...kUsual, rounds: 3, keepRounds: 3, onEvent };
    const coordinator = await serve({ ...options, strategy: new FedAvg() });
    const weights = eg.io.saveSafetensors(new eg.nn.Linear(2, 2).stateDict());
    const clients = await joinAll(run, [], async (round) => {
      const next = { ...where(run), share: 0.5 };
      if (round === 1) await rollOutRun({ ...next, revision: "other", weights });
      if (round === 2) await withdrawRollout(where(run));
      if (round === 2) await rollOutRun({ ...next, revision: "v2" });
    });
    await endOf(coordinator, clients);
    const refused = events.filter(({ type }) => type === "rolloutRefused");
    assert.equal(refused.length, 1);
    assert.match(refused[0].message, /the weights of the revision are not those of this model/);
    assert.deepEqual((await statusOf(run)).rollout, { revision: "v2", share: 0.5 });
    await rollBackRun({ ...where(run), round: 1 });
    const { rollout, round } = await statusOf(run);
    assert.deepEqual([rollout, round], [null, 2]);
    await deleteRun(where(run));
  });

  test("cannot be tried where updates are masked", async () => {
    const run = newRun();
    const options = { ...run, ...kUsual, rounds: 1, strategy: new FedAvg() };
    const coordinator = await serve({ ...options, secureAggregation: {} });
    await assert.rejects(
      rollOutRun({ ...where(run), revision: "v2", share: 0.5 }),
      /has one revision only: its updates are masked/,
    );
    await coordinator.stop();
    await deleteRun(where(run));
  });
});
