// What an operator does with runs: lists, pauses, resumes, stops, rolls back and deletes them.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import * as eg from "edgegrad";
import {
  deleteRun,
  FedAvg,
  listRuns,
  pauseRun,
  resumeRun,
  rollBackRun,
  stopRun,
} from "edgegrad/federated";
import { startNats } from "../../examples/support/nats_server.mjs";
import { soon, until } from "../support/until.mjs";
import { join, serve } from "./support/members.mjs";
import { referenceWeights } from "./support/reference.mjs";
import { endOf, kNever } from "./support/runs.mjs";
import { makeModel, numbersOf, trainerOf } from "./support/task.mjs";

let nats;
await eg.init();
before(async () => {
  nats = await startNats({ jetstream: "max_file_store: 64M" });
});
after(() => nats.close());

let runs = 0;
const newRun = () => ({ servers: nats.url, run: `run${runs++}`, model: makeModel });
const kUsual = { rounds: 3, minClients: 1, deadline: kNever, seed: 3 };
const where = ({ servers, run }) => ({ servers, run });
const statusOf = async ({ servers, run }) => {
  const all = await listRuns({ servers });
  return all.find((one) => one.run === run);
};

async function wholeRun(run, options = {}) {
  const coordinator = await serve({ ...run, ...kUsual, strategy: new FedAvg(), ...options });
  const client = await join({ ...run, name: "client-0", train: trainerOf(0) });
  await endOf(coordinator, [client]);
  return numbersOf(coordinator.stateDict());
}

describe("a run", () => {
  test("reserves nothing, so that a server of 64 MB has many; is listed; and leaves nothing when it is deleted", async () => {
    const all = Array.from({ length: 6 }, newRun);
    for (const run of all) await wholeRun(run, { rounds: 1 });
    const found = await listRuns({ servers: nats.url });
    const names = found.map(({ run }) => run);
    assert.deepEqual(names, [...names].sort());
    const status = await statusOf(all[0]);
    assert.ok(status.bytes > 0);
    const { bytes: _, ...rest } = status;
    assert.deepEqual(rest, {
      run: all[0].run,
      state: "finished",
      round: 1,
      rounds: 1,
      strategy: "FedAvg",
      control: "running",
      leader: null,
      clients: [],
      revision: "",
      rollout: null,
      keptRounds: [],
      bestRound: null,
    });
    for (const run of all) await deleteRun(where(run));
    assert.deepEqual(await listRuns({ servers: nats.url }), []);
    const connection = await connect({ servers: nats.url });
    const jsm = await jetstreamManager(connection);
    assert.equal((await jsm.getAccountInfo()).streams, 0);
    await connection.close();
    await assert.rejects(deleteRun(where(all[0])), /\[deleteRun\] there is no run "run0"/);
  });

  test("that a coordinator leads is deleted by force only", async () => {
    const run = newRun();
    const coordinator = await serve({ ...run, ...kUsual, strategy: new FedAvg() });
    await until("coordinator that leads", () => coordinator.leads);
    await assert.rejects(deleteRun(where(run)), /coordinator_\w+ leads the run .*Stop it first/);
    await coordinator.stop();
    await deleteRun(where(run));
  });

  test("that is paused begins no round until it is resumed", async () => {
    const run = newRun();
    const events = [];
    const onEvent = (event) => events.push(event.type);
    const options = { ...run, ...kUsual, strategy: new FedAvg(), onEvent };
    const coordinator = await serve(options);
    const client = await join({
      ...run,
      name: "client-0",
      train: async (input) => {
        if (input.round === 1) await pauseRun(where(run));
        return trainerOf(0)(input);
      },
    });
    await until("pause", () => events.includes("paused"));
    assert.equal(coordinator.round, 2);
    assert.equal((await statusOf(run)).control, "paused");
    await resumeRun(where(run));
    const { rounds } = await endOf(coordinator, [client]);
    assert.equal(rounds.length, 3);
    await deleteRun(where(run));
  });

  test("that is stopped ends its coordinators, and goes on when it is resumed", async () => {
    const run = newRun();
    const options = { ...run, ...kUsual, strategy: new FedAvg(), onEvent: () => {} };
    const first = await serve(options);
    const client = await join({
      ...run,
      name: "client-0",
      train: async (input) => {
        if (input.round === 1) await stopRun(where(run));
        return trainerOf(0)(input);
      },
    });
    const { isComplete, rounds } = await soon("end of the coordinator", first.finished);
    assert.deepEqual([isComplete, rounds.length], [false, 1]);
    await resumeRun(where(run));
    const second = await serve(options);
    await endOf(second, [client]);
    assert.deepEqual(
      numbersOf(second.stateDict()),
      referenceWeights({ clients: 1, rounds: 3, seed: 3 }),
    );
    await deleteRun(where(run));
  });

  test("that is private does not go back: its epsilon is spent", async () => {
    const run = newRun();
    const privacy = { clip: 1, noiseMultiplier: 1 };
    await wholeRun(run, { rounds: 2, keepRounds: 2, privacy });
    await assert.rejects(
      rollBackRun({ ...where(run), round: 1 }),
      /is private, and cannot go back/,
    );
    await deleteRun(where(run));
  });

  test("cannot have replicas on a server that is alone", async () => {
    await assert.rejects(
      serve({ ...newRun(), ...kUsual, strategy: new FedAvg(), replicas: 3 }),
      /\[serve\] the server refuses to store the run: replicas > 1 not supported/,
    );
  });

  test("keeps the best round too, and goes back to it", async () => {
    const run = newRun();
    const losses = [9, 5, 2, 7, 8];
    const evaluate = ({ round }) => ({ error: losses[round - 1] });
    const keepBest = { metric: "error" };
    await wholeRun(run, { rounds: 5, keepRounds: 1, keepBest, evaluate });
    const { keptRounds, bestRound } = await statusOf(run);
    assert.deepEqual([keptRounds, bestRound], [[3, 5], 3]);
    await rollBackRun({ ...where(run), round: "best" });
    const { round, keptRounds: left } = await statusOf(run);
    assert.deepEqual([round, left], [4, [3]]);
    await deleteRun(where(run));
  });

  test("goes back to a round that is kept, and from there gives the same weights", async () => {
    const run = newRun();
    const weights = await wholeRun(run, { rounds: 4, keepRounds: 3 });
    assert.deepEqual((await statusOf(run)).keptRounds, [2, 3, 4]);
    await assert.rejects(rollBackRun({ ...where(run), round: 1 }), /are kept 2, 3, 4/);
    await rollBackRun({ ...where(run), round: 2 });
    const { state, round } = await statusOf(run);
    assert.deepEqual([state, round], ["waiting", 3]);
    assert.deepEqual(await wholeRun(run, { rounds: 4, keepRounds: 3 }), weights);
    assert.deepEqual((await statusOf(run)).keptRounds, [2, 3, 4]);
    await deleteRun(where(run));
  });
});
