// An attacker with the credentials of one client, and the permissions that the guide gives it: it tries every subject, every request of
// JetStream and every reply subject. Nothing changes but its own updates.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { headers } from "@nats-io/nats-core";
import * as eg from "edgegrad";
import { FedAvg } from "edgegrad/federated";
import { soon, until } from "../support/until.mjs";
import {
  connectAs,
  keyOf,
  seedOf,
  startGuideServer,
  subjectsOfAlice,
} from "./support/guide_server.mjs";
import { join, serve } from "./support/members.mjs";
import { referenceWeights } from "./support/reference.mjs";
import { endOf, kNever } from "./support/runs.mjs";
import { makeModel, numbersOf, trainerOf } from "./support/task.mjs";

const kRun = "digits";
const kBucket = `edgegrad_${kRun}`;

/** What the attacker wants to write to, by publishing or by having an answer published there. */
const kTargets = [
  `$KV.${kBucket}.record`,
  `$KV.${kBucket}.leader`,
  `$KV.${kBucket}.round.1`,
  `$O.${kBucket}.C.x`,
  `$O.${kBucket}.M.x`,
  `edgegrad.${kRun}.update.alice`,
  `edgegrad.${kRun}.update.bob`,
  `edgegrad.${kRun}.ask.bob`,
  `edgegrad.${kRun}.here.bob`,
  `edgegrad.${kRun}.who`,
  `edgegrad.${kRun}.changed`,
  "_INBOX_bob.x",
  "_INBOX_coordinator.x",
  ...[kBucket, `KV_${kBucket}`, `OBJ_${kBucket}`].flatMap((stream) => [
    `$JS.API.STREAM.PURGE.${stream}`,
    `$JS.API.STREAM.DELETE.${stream}`,
    `$JS.API.STREAM.UPDATE.${stream}`,
    `$JS.API.STREAM.INFO.${stream}`,
    `$JS.API.STREAM.MSG.DELETE.${stream}`,
    `$JS.API.STREAM.MSG.GET.${stream}`,
    `$JS.API.STREAM.SNAPSHOT.${stream}`,
    `$JS.API.DIRECT.GET.${stream}`,
    `$JS.API.CONSUMER.CREATE.${stream}`,
    `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.x`,
  ]),
  "$JS.API.DIRECT.GET.KV_edgegrad_digits.$KV.edgegrad_digits.record",
  "$JS.API.STREAM.CREATE.mine",
  "$JS.API.STREAM.NAMES",
  "$JS.API.INFO",
  "$SYS.REQ.SERVER.PING",
  "$SRV.PING",
];

/** Everything that a message may carry to do harm where it arrives. */
const kPayloads = [
  "",
  '{"seq":1000000}',
  '{"name":"edgegrad_digits","subjects":["edgegrad.digits.>"]}',
  '{"format":2,"state":"finished","round":1}',
  "gone",
];

/** Sessions that are more than a name. */
const kSessions = [
  `x\t0\r\n\r\nPUB\t$KV.${kBucket}.record\t2\r\n{}\r\n`,
  `x\t$KV.${kBucket}.record`,
  ">",
  "*",
  "a.b",
  "",
];

/** Requests of each kind, with and without what they need. */
function asks() {
  const kinds = ["join", "record", "object", "part", "verdict", "nothing"];
  const digest = "0".repeat(64);
  return [
    undefined,
    ...kinds.map((kind) => {
      const made = headers();
      made.set("EdgeGrad-Ask", kind);
      made.set("EdgeGrad-Round", "1");
      made.set("EdgeGrad-Part", "0/1");
      made.set("EdgeGrad-Digest", digest);
      made.set("EdgeGrad-Session", "attacker");
      made.set("EdgeGrad-Id", "x");
      // The server would obey these, if they came through.
      made.set("Nats-Rollup", "all");
      made.set("Nats-Msg-Id", "x");
      return made;
    }),
  ];
}

let nats;
await eg.init();
before(async () => {
  nats = await startGuideServer();
});
after(() => nats.close());

describe("a client with the credentials of one", () => {
  for (const isSigned of [false, true]) {
    test(`changes nothing but its own updates${isSigned ? ", with signatures" : ""}`, async () => {
      const run = { servers: nats.url, run: kRun, model: makeModel };
      const as = (name) => ({ credentials: { nkeySeed: seedOf(name) } });
      const events = [];
      const coordinator = await serve({
        ...run,
        ...as("coordinator"),
        ...(isSigned && { clients: { alice: keyOf("alice"), bob: keyOf("bob") } }),
        strategy: new FedAvg(),
        rounds: isSigned ? 4 : 2,
        minClients: 2,
        deadline: kNever,
        seed: 3,
        limits: { attempts: 1000, messages: 100_000 },
        onEvent: (event) => events.push(event),
      });
      // Hears everything that passes through the server.
      const observer = await connectAs(nats.url, "coordinator");
      const heard = [];
      let isAttacking = false;
      observer.subscribe(">", {
        callback: (_, { subject }) => {
          if (isAttacking) heard.push(subject);
        },
      });
      const attacker = await connectAs(nats.url, "alice");
      const violations = [];
      const stolen = [];
      void (async () => {
        for await (const { error } of attacker.status()) if (error) violations.push(error.message);
      })();
      let isThere = () => {};
      const bobTrains = new Promise((resolve) => {
        isThere = resolve;
      });
      let goOn = () => {};
      const mayGoOn = new Promise((resolve) => {
        goOn = resolve;
      });
      const bob = await join({
        ...run,
        ...as("bob"),
        name: "bob",
        coordinator: keyOf("coordinator"),
        train: async (input) => {
          isThere();
          await mayGoOn;
          return trainerOf(1)(input);
        },
      });
      attacker.publish(`edgegrad.${kRun}.here.alice`, "here attacker");
      await soon("round with bob", bobTrains);
      const kv = (key) =>
        observer.request(`$JS.API.DIRECT.GET.KV_${kBucket}.$KV.${kBucket}.${key}`);
      const sequence = async (key) => (await kv(key)).headers.get("Nats-Sequence");
      const record = await sequence("record");

      isAttacking = true;
      for (const own of subjectsOfAlice()) {
        for (const reply of kTargets) {
          for (const payload of kPayloads) {
            for (const made of own.includes(".ask.") ? asks() : [undefined]) {
              attacker.publish(own, payload, { reply, headers: made });
            }
          }
        }
        // The coordinator answers so many at once.
        await attacker.flush();
      }
      // A session becomes a part of a subject; what a client says of itself must not become commands on the coordinator's connection.
      const joinAs = (session) => {
        const made = headers();
        made.set("EdgeGrad-Ask", "join");
        made.set("EdgeGrad-Session", session);
        const reply = "_INBOX_alice.x";
        attacker.publish(`edgegrad.${kRun}.ask.alice`, "", { reply, headers: made });
      };
      for (const session of kSessions) {
        attacker.publish(`edgegrad.${kRun}.here.alice`, "gone attacker");
        attacker.publish(`edgegrad.${kRun}.here.alice`, `here ${session}`);
        joinAs(session.replaceAll(/[\r\n]/g, ""));
        // The coordinator asks whether the session before is there.
        joinAs("attacker");
        await attacker.flush();
      }
      for (const target of kTargets)
        attacker.publish(target, kPayloads[1], { reply: "_INBOX_alice.x" });
      for (const subject of [">", "$KV.>", "_INBOX_bob.>", "_INBOX_coordinator.>", "edgegrad.>"]) {
        attacker.subscribe(subject, { callback: (error) => error ?? stolen.push(subject) });
      }
      await until("refusal of all", () => violations.length >= kTargets.length + 5);
      // A request after all others: the coordinator has read those by then.
      const last = headers();
      last.set("EdgeGrad-Ask", "record");
      last.set("EdgeGrad-Session", "attacker");
      await attacker.request(`edgegrad.${kRun}.ask.alice`, "", { headers: last, timeout: 60_000 });
      await observer.flush();
      isAttacking = false;

      const ofAlice = /^(edgegrad\.digits\.(ask|here)\.alice|_INBOX_alice\..*)$/;
      // The lease is renewed, and the stream of updates is read, meanwhile.
      const ofCoordinator =
        /^(\$KV\.edgegrad_digits\.leader|_INBOX_coordinator_.*|edgegrad\.digits\.here\.bob|\$JS\.API\.DIRECT\.GET\.edgegrad_digits)$/;
      const others = heard.filter((one) => !ofAlice.test(one) && !ofCoordinator.test(one));
      // Of a part that she may send, the coordinator stores it under her name.
      const foreign = others.filter((one) => one !== "edgegrad.digits.update.alice");
      assert.deepEqual([...new Set(foreign)], []);
      assert.deepEqual(stolen, []);
      if (isSigned) assert.ok(!others.includes("edgegrad.digits.update.alice"));
      assert.equal(await sequence("record"), record, "the record has been written");

      await attacker.close();
      const alice = await join({
        ...run,
        ...as("alice"),
        name: "alice",
        coordinator: keyOf("coordinator"),
        train: trainerOf(0),
      });
      goOn();
      const { rounds } = await endOf(coordinator, [alice, bob]);
      for (const { clients } of rounds) assert.deepEqual(clients, ["alice", "bob"]);
      const expected = referenceWeights({ clients: 2, rounds: rounds.length, seed: 3 });
      assert.deepEqual(numbersOf(coordinator.stateDict()), expected);
      assert.ok(
        events.every(({ client }) => client !== "bob"),
        "bob was refused something",
      );
      await observer.close();
    });
  }
});
