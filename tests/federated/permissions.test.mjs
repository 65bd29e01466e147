// The configuration of docs/guide/federated.md: a client trains with it, and can do nothing in the name of another.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { headers, nkeyAuthenticator, nkeys } from "@nats-io/nats-core";
import { connect } from "@nats-io/transport-node";
import * as eg from "edgegrad";
import { FedAvg, join, serve } from "edgegrad/federated";
import { startNats } from "../../examples/support/nats_server.mjs";
import { kRoot } from "../js/support/files.mjs";
import { soon, until } from "../support/until.mjs";
import { endOf, kNever } from "./support/runs.mjs";
import { makeModel, trainerOf } from "./support/task.mjs";

const kNames = ["coordinator", "alice", "bob"];
const keys = Object.fromEntries(kNames.map((name) => [name, nkeys.createUser()]));
const seedOf = (name) => new TextDecoder().decode(keys[name].getSeed());

/** The configuration of the guide, with a second client like the first. */
function configuration() {
  const guide = readFileSync(`${kRoot}docs/guide/federated.md`, "utf8");
  const [, text] = /```text\njetstream \{\}\n([\s\S]*?)```/.exec(guide);
  const [alice] = /\{ nkey: ALICE[\s\S]*?\} \}/.exec(text);
  const bob = alice.replaceAll("alice", "bob").replace("ALICE", "BOB");
  return text
    .replace(alice, `${alice}\n${bob}`)
    .replace(/COORDINATOR|ALICE|BOB/g, (name) => keys[name.toLowerCase()].getPublicKey());
}

let nats;
await eg.init();
before(async () => {
  nats = await startNats({ config: configuration() });
});
after(() => nats.close());

const run = () => ({ servers: nats.url, run: "digits", model: makeModel });

describe("with the configuration of the guide", () => {
  test("a run goes through, with nkeys", async () => {
    const coordinator = await serve({
      ...run(),
      credentials: { nkeySeed: seedOf("coordinator") },
      strategy: new FedAvg(),
      rounds: 2,
      minClients: 2,
      deadline: kNever,
    });
    const clients = await Promise.all(
      ["alice", "bob"].map((name, i) =>
        join({ ...run(), name, credentials: { nkeySeed: seedOf(name) }, train: trainerOf(i) }),
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
    const authenticator = nkeyAuthenticator(keys.alice.getSeed());
    const options = { servers: nats.url, authenticator, inboxPrefix: "_INBOX_alice" };
    const connection = await connect(options);
    const violations = [];
    void (async () => {
      for await (const { error } of connection.status()) if (error) violations.push(error.message);
    })();
    // Who is forbidden something hears of it, and does not wait for an answer.
    const timeout = 120_000;
    const js = jetstream(connection, { timeout });
    const jsm = await jetstreamManager(connection, { checkAPI: false, timeout });
    const own = headers();
    own.set("EdgeGrad-Round", "1");
    await js.publish("edgegrad.digits.update.alice", "mine", { headers: own });
    const kForbidden = {
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
    const client = await join({
      ...run(),
      run: "other",
      name: "bob",
      credentials: { nkeySeed: seedOf("alice") },
      train: trainerOf(0),
    });
    await assert.rejects(soon("error", client.finished), /\[join\] the server does not let "bob"/);
  });

  test("nobody connects without a key", async () => {
    await assert.rejects(join({ ...run(), train: trainerOf(0) }), /\[join\] cannot connect/);
  });
});
