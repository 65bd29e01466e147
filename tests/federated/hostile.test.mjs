// Updates that are refused, each counted under its reason, while an honest client's update is aggregated.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as eg from "edgegrad";
import { FedAvg, Krum, Median, TrimmedMean } from "edgegrad/federated";
import { startNats } from "../../examples/support/nats_server.mjs";
import { join, serve } from "./support/members.mjs";
import { fileOf, rawClient } from "./support/raw_client.mjs";
import { referenceWeights } from "./support/reference.mjs";
import { endOf, kNever } from "./support/runs.mjs";
import { accuracyOf, makeModel, numbersOf, trainerOf } from "./support/task.mjs";

let nats;
await eg.init();
before(async () => {
  nats = await startNats();
});
after(() => nats.close());

let runs = 0;

/**
 * Rounds with an honest client and a hostile one, which the functions of `attacks` play, one in each round, before the honest one sends
 * its update. Returns the summary of the first round. If the hostile one is never counted, rounds end at their deadlines.
 */
async function roundsWith(attacks, { limits, isCounted = false } = {}) {
  const run = { servers: nats.url, run: `hostile${runs++}`, model: makeModel };
  const rounds = attacks.length;
  const coordinator = await serve({
    ...run,
    strategy: new FedAvg(),
    rounds,
    minClients: 2,
    minUpdates: isCounted ? 2 : 1,
    deadline: isCounted ? kNever : 100,
    maxExtensions: 100_000,
    seed: 3,
    limits,
  });
  const hostile = await rawClient({ servers: nats.url, run: run.run, name: "hostile" });
  const train = trainerOf(0);
  const client = await join({
    ...run,
    name: "client-a",
    train: async (input) => {
      const { round } = input;
      const label = { run: run.run, round, client: "hostile" };
      await attacks[round - 1](hostile, { state: coordinator.stateDict(), ...label });
      return train(input);
    },
  });
  const history = await endOf(coordinator, [client]);
  await hostile.close();
  const weights = numbersOf(coordinator.stateDict());
  if (!isCounted) {
    assert.deepEqual(history.rounds[0].clients, ["client-a"]);
    assert.deepEqual(weights, referenceWeights({ clients: 1, rounds, seed: 3 }));
  }
  return { ...history.rounds[0], history };
}

const filled = (tensor, value) => eg.full(tensor.shape, value, { dtype: tensor.dtype });
const changed = (state, key, tensor) => ({ ...state, [key]: tensor });
const kKey = "0.weight";

/** Attacks, each a function of the state and label that returns [bytes, headers]. */
const kAttacks = {
  "an infinity": ["values", (s, l) => [fileOf(changed(s, kKey, filled(s[kKey], Infinity)), l)]],
  "a NaN": [
    "values",
    (s, l) => {
      const bad = s[kKey].clone();
      bad.set_([3, 2], NaN);
      return [fileOf(changed(s, kKey, bad), l)];
    },
  ],
  "a huge norm": ["norm", (s, l) => [fileOf(changed(s, kKey, filled(s[kKey], 1e30)), l)]],
  "a missing tensor": ["keys", ({ [kKey]: _, ...rest }, l) => [fileOf(rest, l)]],
  "one tensor too many": ["keys", (s, l) => [fileOf(changed(s, "more", eg.zeros([1])), l)]],
  "a tensor called __proto__": [
    "keys",
    ({ [kKey]: one, ...rest }, l) => [
      fileOf(Object.fromEntries([...Object.entries(rest), ["__proto__", one]]), l),
    ],
  ],
  "another shape": ["shapes", (s, l) => [fileOf(changed(s, kKey, s[kKey].t().contiguous()), l)]],
  "another dtype": ["dtypes", (s, l) => [fileOf(changed(s, kKey, s[kKey].double()), l)]],
  "a pickle": ["format", () => [Buffer.from("\x80\x02cposix\nsystem\nX\x02\x00\x00\x00lsq\x85R.")]],
  "a truncated file": ["format", (s, l) => [fileOf(s, l).subarray(0, -1)]],
  "an empty file": ["format", () => [new Uint8Array(0)]],
  "a header of 2^60 bytes": [
    "format",
    () => [new Uint8Array(new BigUint64Array([2n ** 60n, 0n]).buffer)],
  ],
  "the file of another run": ["run", (s, l) => [fileOf(s, { ...l, run: "other" })]],
  "the file of another client": ["run", (s, l) => [fileOf(s, { ...l, client: "client-a" })]],
  "the file of another round": ["run", (s, l) => [fileOf(s, { ...l, round: 2 })]],
  "a message of a later round": ["late", (s, l) => [fileOf(s, { ...l, round: 2 }), { round: 2 }]],
  "a message of round __proto__": ["late", (s, l) => [fileOf(s, l), { round: "__proto__" }]],
  "no samples": ["samples", (s, l) => [fileOf(s, { ...l, samples: "0" })]],
  "1e300 samples": ["samples", (s, l) => [fileOf(s, { ...l, samples: "1e300" })]],
  "half a sample": ["samples", (s, l) => [fileOf(s, { ...l, samples: "0.5" })]],
  "metrics that are no numbers": ["metrics", (s, l) => [fileOf(s, { ...l, metrics: '{"a":"b"}' })]],
  "metrics that are no JSON": ["metrics", (s, l) => [fileOf(s, { ...l, metrics: "{" })]],
  "another digest": ["digest", (s, l) => [fileOf(s, l), { digest: "0".repeat(64) }]],
  "no digest": ["message", (s, l) => [fileOf(s, l), { digest: "x" }]],
  "part 1 without part 0": ["digest", (s, l) => [fileOf(s, l), { part: "1/2" }]],
  "part 5 of 2": ["size", (s, l) => [fileOf(s, l), { part: "5/2" }]],
  "a million parts": ["size", (s, l) => [fileOf(s, l), { part: "0/999999" }]],
  "more bytes than an update has": ["size", () => [new Uint8Array(200_000)]],
  "the name of a client that is not in the round": [
    "unselected",
    (s, l) => [fileOf(s, { ...l, client: "nobody" }), { to: "nobody" }],
  ],
};

describe("updates are refused", () => {
  // All in one round, in which they are told apart by their reasons.
  test("that have any of many faults, and counted by reason", async (t) => {
    const expected = { message: 1 };
    for (const [reason] of Object.values(kAttacks)) expected[reason] = (expected[reason] ?? 0) + 1;
    const attack = async (hostile, { state, ...label }) => {
      await hostile.sendBare("hello");
      for (const [, make] of Object.values(kAttacks)) {
        const [bytes, options] = make(state, label);
        await hostile.send(bytes, options);
      }
    };
    const { refused } = await roundsWith([attack], { limits: { messages: 100 } });
    assert.deepEqual(refused, expected);
    t.diagnostic(JSON.stringify(refused));
  });
});

describe("a client", () => {
  test("is counted once, however often it sends", async () => {
    const attack = async (hostile, { state, ...label }) => {
      const bytes = fileOf(state, label);
      assert.equal((await hostile.send(bytes, { id: "same" })).duplicate, false);
      assert.equal((await hostile.send(bytes, { id: "same" })).duplicate, true);
      await hostile.send(bytes, { id: "other" });
    };
    const { refused, clients, samples } = await roundsWith([attack], { isCounted: true });
    assert.deepEqual(clients, ["client-a", "hostile"]);
    assert.equal(samples, 128);
    assert.deepEqual(refused, { repeated: 1 });
  });

  test("cannot replay an update in a later round", async () => {
    let bytes = null;
    const first = async (hostile, { state, ...label }) => {
      bytes = fileOf(state, { ...label, samples: "7" });
      await hostile.send(bytes);
    };
    const second = async (hostile, { state, ...label }) => {
      await hostile.send(bytes, { round: 1, id: "again" });
      await hostile.send(bytes, { round: 2, id: "as new" });
      await hostile.send(fileOf(state, { ...label, samples: "5" }), { round: 2 });
    };
    const { history } = await roundsWith([first, second], { isCounted: true });
    assert.deepEqual(
      history.rounds.map(({ clients, samples, refused }) => [clients, samples, refused]),
      [
        [["client-a", "hostile"], 64 + 7, {}],
        [["client-a", "hostile"], 64 + 5, { late: 1, run: 1 }],
      ],
    );
  });

  test("that floods fills only its own subject: the server refuses it, and others are counted", async () => {
    let stored = 0;
    const flood = async (hostile) => {
      for (let i = 0; i < 100; i++) {
        await hostile.send(Buffer.from(`flood ${i}`)).then(
          () => stored++,
          (error) => assert.match(error.message, /maximum messages per subject/),
        );
      }
    };
    const { refused } = await roundsWith([flood], { limits: { messages: 6 } });
    assert.equal(stored, 6);
    assert.deepEqual(refused, { format: 6 });
  });
});

describe("three hostile clients of ten", () => {
  /** The accuracy for the honest clients' points after a run in which hostile clients send weights of the other sign, four times as large. */
  async function accuracyWith(strategy) {
    const run = { servers: nats.url, run: `hostile${runs++}`, model: makeModel };
    const options = { rounds: 6, minClients: 10, deadline: kNever, seed: 3 };
    const coordinator = await serve({ ...run, ...options, strategy });
    const invert = async ({ model }) => {
      eg.noGrad(() => model.parameters().map((one) => one.mul_(-4)));
      return { samples: 64 };
    };
    const clients = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        join({ ...run, name: `client-${i}`, train: i < 7 ? trainerOf(i) : invert }),
      ),
    );
    await endOf(coordinator, clients);
    const model = makeModel();
    model.loadStateDict(coordinator.stateDict());
    return accuracyOf(model, 7);
  }

  for (const strategy of [
    new Median(),
    new TrimmedMean({ share: 0.3 }),
    new Krum({ byzantine: 3 }),
  ]) {
    test(`do not lead ${strategy.constructor.name} away`, async (t) => {
      const accuracy = await accuracyWith(strategy);
      t.diagnostic(`accuracy ${accuracy.toFixed(3)}`);
      assert.ok(accuracy >= 0.9, `${accuracy}`);
    });
  }

  test("do lead FedAvg away, so that the others show something", async (t) => {
    const accuracy = await accuracyWith(new FedAvg());
    t.diagnostic(`accuracy ${accuracy.toFixed(3)}`);
    assert.ok(accuracy < 0.8, `${accuracy}`);
  });
});
