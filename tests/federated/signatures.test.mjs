// Signatures on a server that lets everybody do everything: what is not signed by the right key is not counted, and not taken.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { jetstream } from "@nats-io/jetstream";
import { headers, nkeys } from "@nats-io/nats-core";
import { connect } from "@nats-io/transport-node";
import * as eg from "edgegrad";
import { FedAvg } from "edgegrad/federated";
import { startNats } from "../../examples/support/nats_server.mjs";
import { soon, until } from "../support/until.mjs";
import { join, serve } from "./support/members.mjs";
import { fileOf, rawClient } from "./support/raw_client.mjs";
import { referenceWeights } from "./support/reference.mjs";
import { endOf, kNever } from "./support/runs.mjs";
import { makeModel, numbersOf, trainerOf } from "./support/task.mjs";

const pairs = Object.fromEntries(
  ["coordinator", "alice", "bob"].map((name) => [name, nkeys.createUser()]),
);
const keyOf = (name) => pairs[name].getPublicKey();
// The server asks for no key; clients and coordinators sign with it nevertheless.
const as = (name) => ({
  credentials: { nkeySeed: new TextDecoder().decode(pairs[name].getSeed()) },
});

let nats;
await eg.init();
before(async () => {
  nats = await startNats();
});
after(() => nats.close());

let runs = 0;
const newRun = () => ({ servers: nats.url, run: `signed${runs++}`, model: makeModel });
const kUsual = { rounds: 1, minClients: 2, deadline: kNever, seed: 3 };

const begin = async (run, more = {}) => {
  const events = [];
  const coordinator = await serve({
    ...run,
    ...kUsual,
    ...as("coordinator"),
    clients: { alice: keyOf("alice"), bob: keyOf("bob") },
    strategy: new FedAvg(),
    onEvent: (event) => events.push(event),
    ...more,
  });
  return { coordinator, events };
};

describe("with keys", () => {
  test("an update in the name of another client is not counted", async () => {
    const run = newRun();
    const { coordinator, events } = await begin(run, { rounds: 2 });
    const mallory = await rawClient({ servers: nats.url, run: run.run, name: "mallory" });
    const alice = await join({ ...run, ...as("alice"), name: "alice", train: trainerOf(0) });
    const bob = await join({
      ...run,
      ...as("bob"),
      name: "bob",
      train: async (input) => {
        const state = coordinator.stateDict();
        const { round } = input;
        const file = fileOf(state, { run: run.run, round, client: "bob", samples: "1000" });
        if (round === 1) await mallory.send(file, { round, to: "bob" });
        return trainerOf(1)(input);
      },
    });
    const { rounds } = await endOf(coordinator, [alice, bob]);
    await mallory.close();
    assert.deepEqual(rounds[0].refused, { signature: 1 });
    assert.deepEqual(
      numbersOf(coordinator.stateDict()),
      referenceWeights({ clients: 2, rounds: 2, seed: 3 }),
    );
    assert.ok(events.some(({ reason, client }) => reason === "signature" && client === "bob"));
  });

  test("an update that is signed for another run is not counted", async () => {
    const [one, other] = [newRun(), newRun()];
    const connection = await connect({ servers: nats.url });
    const stored = [];
    connection.subscribe(`edgegrad.${one.run}.update.bob`, {
      callback: (_, message) => stored.push(message),
    });
    const clientsOf = (run) =>
      ["alice", "bob"].map((name, i) => join({ ...run, ...as(name), name, train: trainerOf(i) }));
    const first = await begin(one);
    await endOf(first.coordinator, await Promise.all(clientsOf(one)));
    await until("update of bob", () => stored.length > 0);
    const second = await begin(other);
    const replay = async () => {
      const [{ data, headers: made }] = stored;
      made.set("Nats-Msg-Id", "replay");
      await jetstream(connection).publish(`edgegrad.${other.run}.update.bob`, data, {
        headers: made,
      });
    };
    let hasReplayed = null;
    const clients = ["alice", "bob"].map((name, i) =>
      join({
        ...other,
        ...as(name),
        name,
        train: async (input) => {
          hasReplayed ??= replay();
          await hasReplayed;
          return trainerOf(i)(input);
        },
      }),
    );
    const { rounds } = await endOf(second.coordinator, await Promise.all(clients));
    assert.deepEqual(rounds[0].refused, { signature: 1 });
    await connection.close();
  });

  test("a client without a key is told so", async () => {
    const run = newRun();
    const { coordinator } = await begin(run);
    await until("coordinator that leads", () => coordinator.leads);
    await assert.rejects(join({ ...run, name: "eve", train: trainerOf(0) }), {
      code: "InvalidArgument",
      message: /\[join\] the coordinator of run "signed\d" has no key of "eve" that fits/,
    });
    const unsigned = await join({ ...run, name: "alice", train: trainerOf(0) });
    const bob = await join({ ...run, ...as("bob"), name: "bob", train: trainerOf(1) });
    await assert.rejects(soon("error", unsigned.finished), /has no key of "alice" that fits/);
    const alice = await join({ ...run, ...as("alice"), name: "alice", train: trainerOf(0) });
    await endOf(coordinator, [alice, bob]);
  });

  test("a client takes no record that its coordinator has not signed", async () => {
    const run = newRun();
    const { coordinator } = await begin(run, { minClients: 1 });
    await until("coordinator that leads", () => coordinator.leads);
    const connection = await connect({ servers: nats.url });
    const trained = [];
    const client = await join({
      ...run,
      ...as("alice"),
      name: "alice",
      coordinator: keyOf("coordinator"),
      train: async (input) => {
        trained.push(input.round);
        const made = headers();
        made.set("EdgeGrad-Revision", "1000000");
        for (const text of ['{"state":"finished"}', '{"format":2,"state":"open"}', "{"]) {
          connection.publish(`edgegrad.${run.run}.changed`, text, { headers: made });
        }
        await connection.flush();
        assert.equal(input.signal.aborted, false);
        return trainerOf(0)(input);
      },
    });
    const { rounds } = await endOf(coordinator, [client]);
    assert.deepEqual(rounds[0].clients, ["alice"]);
    assert.deepEqual(trained, [1]);
    const other = newRun();
    const { coordinator: unknown } = await begin(other);
    await until("coordinator that leads", () => unknown.leads);
    const wrong = { ...other, ...as("alice"), name: "alice", coordinator: keyOf("bob") };
    const misled = await join({ ...wrong, train: trainerOf(0) });
    await assert.rejects(
      soon("error", misled.finished),
      /the record of run "signed\d" is not signed by the key `coordinator`/,
    );
    await unknown.stop();
    await connection.close();
  });

  test("keys are checked", async () => {
    const options = { ...newRun(), ...kUsual, strategy: new FedAvg() };
    await assert.rejects(
      serve({ ...options, clients: { alice: "SUA" } }),
      /clients\.alice: expected a public nkey of a user, "U\.\.\.", got "SUA"/,
    );
    await assert.rejects(
      join({ ...newRun(), train: trainerOf(0), coordinator: "UA" }),
      /coordinator: expected a public nkey/,
    );
  });
});
