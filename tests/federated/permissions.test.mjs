// The configuration of docs/guide/federated.md: a client trains with it, and can do nothing in the name of another.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import * as eg from "edgegrad";
import { FedAvg } from "edgegrad/federated";
import { soon, until } from "../support/until.mjs";
import { connectAs, keyOf, seedOf, startGuideServer } from "./support/guide_server.mjs";
import { join, serve } from "./support/members.mjs";
import { endOf, kNever } from "./support/runs.mjs";
import { makeModel, trainerOf } from "./support/task.mjs";

let nats;
await eg.init();
before(async () => {
  nats = await startGuideServer();
});
after(() => nats.close());

const run = () => ({ servers: nats.url, run: "digits", model: makeModel });

describe("with the configuration of the guide", () => {
  test("a run goes through, with nkeys", async () => {
    const coordinator = await serve({
      ...run(),
      credentials: { nkeySeed: seedOf("coordinator") },
      clients: { alice: keyOf("alice"), bob: keyOf("bob") },
      strategy: new FedAvg(),
      rounds: 2,
      minClients: 2,
      deadline: kNever,
    });
    const clients = await Promise.all(
      ["alice", "bob"].map((name, i) =>
        join({
          ...run(),
          name,
          credentials: { nkeySeed: seedOf(name) },
          coordinator: keyOf("coordinator"),
          train: trainerOf(i),
        }),
      ),
    );
    const { rounds } = await endOf(coordinator, clients);
    assert.deepEqual(
      rounds.map(({ clients }) => clients),
      [
        ["alice", "bob"],
        ["alice", "bob"],
      ],
    );
  });

  test("a client cannot write or do what is not its own", async () => {
    const connection = await connectAs(nats.url, "alice");
    const violations = [];
    void (async () => {
      for await (const { error } of connection.status()) if (error) violations.push(error.message);
    })();
    // Who is forbidden something hears of it, and does not wait for an answer.
    const timeout = 120_000;
    const js = jetstream(connection, { timeout });
    const jsm = await jetstreamManager(connection, { checkAPI: false, timeout });
    const kForbidden = {
      "an update of her own, past the coordinator": () =>
        js.publish("edgegrad.digits.update.alice", "mine"),
      "an update of bob's": () => js.publish("edgegrad.digits.update.bob", "his"),
      "the record": () => js.publish("$KV.edgegrad_digits.record", "{}"),
      "the lease": () => js.publish("$KV.edgegrad_digits.leader", "me"),
      weights: () => js.publish("$O.edgegrad_digits.C.x", "bytes"),
      "a consumer": () =>
        jsm.consumers.add("KV_edgegrad_digits", {
          deliver_subject: "edgegrad.digits.update.bob",
          ack_policy: "none",
        }),
      "an update of bob's, to read": () =>
        jsm.direct.getMessage("edgegrad_digits", { last_by_subj: "edgegrad.digits.update.bob" }),
      "all updates, to read": () => jsm.direct.getMessage("edgegrad_digits", { seq: 1 }),
      "the end of the run": () => jsm.streams.delete("edgegrad_digits"),
    };
    for (const [what, attempt] of Object.entries(kForbidden)) {
      await assert.rejects(attempt, /Permissions Violation/, what);
    }
    connection.publish("edgegrad.digits.here.bob", "gone");
    connection.subscribe("_INBOX_bob.>");
    connection.subscribe("edgegrad.>");
    for (const subject of ["here.bob", "_INBOX_bob", '"edgegrad.>"']) {
      await until(`refusal of ${subject}`, () => violations.some((one) => one.includes(subject)));
    }
    await connection.close();
  });

  test("a client under another name than its key's is told so", async () => {
    const joining = join({
      ...run(),
      run: "other",
      name: "bob",
      credentials: { nkeySeed: seedOf("alice") },
      train: trainerOf(0),
    });
    const error = joining.then(({ finished }) => finished);
    await assert.rejects(soon("error", error), /\[join\] the server does not let "bob"/);
  });

  test("nobody connects without a key", async () => {
    await assert.rejects(join({ ...run(), train: trainerOf(0) }), /\[join\] cannot connect/);
  });
});
