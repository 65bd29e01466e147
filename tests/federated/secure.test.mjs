// Secure aggregation: sums are those of the plain updates, whoever leaves at which step, and nobody is told both kinds of shares.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as eg from "edgegrad";
import { DiLoCo, FedAdam, FedAvg, FedProx, Krum, Median, TrimmedMean } from "edgegrad/federated";
import { startNats } from "../../examples/support/nats_server.mjs";
import { soon } from "../support/until.mjs";
import { join, serve } from "./support/members.mjs";
import { referenceWeights } from "./support/reference.mjs";
import { endOf, kNever, passDeadline } from "./support/runs.mjs";
import { secureClient } from "./support/secure_client.mjs";
import { makeModel, numbersOf, pointsOf, trainerOf, trainSteps } from "./support/task.mjs";

let nats;
await eg.init();
before(async () => {
  nats = await startNats();
});
after(() => nats.close());

const kUsual = { rounds: 1, minClients: 4, minUpdates: 2, deadline: kNever, seed: 3 };
const kSecure = { secureAggregation: { handshake: kNever } };
const kOthers = ["client-0", "client-1", "client-2"];
const kAll = [...kOthers, "client-3"];
let runs = 0;
const newRun = () => ({ servers: nats.url, run: `secure${runs++}`, model: makeModel });

/** All numbers of a state, in the order of a safetensors file. */
const flat = (state) =>
  Object.entries(numbersOf(state))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, values]) => values);

/** The differences that the client with a number makes in the first round, as one list. */
function differencesOf(client) {
  eg.manualSeed(kUsual.seed);
  const model = makeModel();
  const start = flat(model.stateDict());
  trainSteps(model, pointsOf(client));
  return flat(model.stateDict()).map((one, i) => one - start[i]);
}

/** The weights of a first round in which some clients are counted. */
function meanWeights(clients) {
  eg.manualSeed(kUsual.seed);
  const start = flat(makeModel().stateDict());
  const all = clients.map(differencesOf);
  return start.map((one, i) => one + all.reduce((sum, each) => sum + each[i], 0) / clients.length);
}

function assertNear(found, expected, tolerance) {
  assert.equal(found.length, expected.length);
  for (const [i, value] of found.entries()) {
    assert.ok(Math.abs(value - expected[i]) <= tolerance, `${i}: ${value}, ${expected[i]}`);
  }
}

/**
 * A run of clients 0 to 3, of which the last is of a second make and changes what it says. The deadline of the first attempt's step
 * `late`, which that one does not answer, or not soundly, passes when the clients `heard` have sent theirs. With `afterFailure`, a
 * coordinator with these options takes over when the first attempt has failed.
 */
async function runWith(
  change,
  options = {},
  { late, heard = kOthers, afterFailure, ...second } = {},
) {
  const run = newRun();
  const failures = [];
  let fail = () => {};
  const hasFailed = new Promise((resolve) => {
    fail = resolve;
  });
  const all = {
    ...run,
    ...kUsual,
    ...kSecure,
    strategy: new FedAvg(),
    onFailure: (failure) => {
      failures.push(failure);
      fail();
    },
    ...options,
  };
  let coordinator = await serve(all);
  const other = await secureClient({
    servers: nats.url,
    run: run.run,
    name: "client-3",
    differences: differencesOf(3),
    samples: pointsOf(3)[1].numel,
    change,
    ...second,
  });
  const clients = await Promise.all(
    [0, 1, 2].map((i) =>
      join({ ...run, name: `client-${i}`, secureAggregation: true, train: trainerOf(i) }),
    ),
  );
  if (late !== undefined) {
    await other.haveAnswered(heard, late);
    coordinator = await passDeadline(coordinator, all, 100);
  }
  if (afterFailure !== undefined) {
    await soon("failure of the first attempt", hasFailed);
    await coordinator.stop();
    coordinator = await serve({ ...all, ...afterFailure });
  }
  const history = await endOf(coordinator, clients);
  await other.close();
  const weights = flat(coordinator.stateDict());
  return { history, weights, failures, last: history.rounds[0] };
}

const kNearly = 1e-6;

describe("the sum", () => {
  test("of clients of two makes is that of their updates", async () => {
    const { last, weights, failures } = await runWith({});
    assert.deepEqual(failures, []);
    assert.deepEqual(last.clients, kAll);
    assert.deepEqual(last.refused, {});
    assert.equal(last.samples, 4 * pointsOf(0)[1].numel);
    assertNear(weights, meanWeights([0, 1, 2, 3]), kNearly);
  });

  test("is weighed by samples", async () => {
    const { last, weights } = await runWith({}, {}, { samples: 192 });
    const even = meanWeights([0, 1, 2]);
    const other = meanWeights([3]);
    assert.equal(last.samples, 384);
    assertNear(
      weights,
      even.map((one, i) => (one + other[i]) / 2),
      kNearly,
    );
  });

  test("is trained on for several rounds, as without masks", async () => {
    const run = newRun();
    const options = { ...kUsual, ...kSecure, minClients: 3, rounds: 3, strategy: new FedAvg() };
    const coordinator = await serve({ ...run, ...options });
    const clients = await Promise.all(
      [0, 1, 2].map((i) => join({ ...run, name: `client-${i}`, train: trainerOf(i) })),
    );
    const { rounds, bytesUp } = await endOf(coordinator, clients);
    const expected = referenceWeights({ clients: 3, rounds: 3, seed: 3 });
    for (const [key, values] of Object.entries(numbersOf(coordinator.stateDict()))) {
      assertNear(values, expected[key], 1e-5);
    }
    for (const { failures } of rounds) assert.deepEqual(failures, []);
    assert.ok(bytesUp > 0);
  });

  for (const strategy of [new FedProx({ mu: 0 }), new DiLoCo({ lr: 1, momentum: 0 })]) {
    test(`is what ${strategy.constructor.name} gets`, async () => {
      const { weights } = await runWith({}, { strategy });
      assertNear(weights, meanWeights([0, 1, 2, 3]), 3 * kNearly);
    });
  }
});

describe("a client that leaves", () => {
  const kCounted = { keys: false, shares: false, masked: false, unmask: true };
  for (const [phase, isCounted] of Object.entries(kCounted)) {
    test(`at the step "${phase}" is ${isCounted ? "counted" : "left out"}`, async () => {
      const change = { [phase]: () => null };
      const { last, weights, failures } = await runWith(change, {}, { late: phase });
      assert.deepEqual(failures, []);
      assert.deepEqual(last.clients, isCounted ? kAll : kOthers);
      assertNear(weights, meanWeights(isCounted ? [0, 1, 2, 3] : [0, 1, 2]), kNearly);
    });
  }

  for (const phase of Object.keys(kCounted)) {
    test(`at the step "${phase}", when all are needed, fails the attempt and not the run`, async () => {
      const onlyOnce = { [phase]: (answer, attempt) => (attempt === 1 ? null : answer) };
      const options = {
        minUpdates: 4,
        secureAggregation: { ...kSecure.secureAggregation, threshold: 0.99 },
      };
      const { last, weights, failures } = await runWith(onlyOnce, options, { late: phase });
      assert.equal(failures.length, 1);
      assert.equal(failures[0].attempt, 1);
      assert.match(failures[0].message, /4 are needed/);
      assert.deepEqual(
        last.failures,
        failures.map(({ message }) => message),
      );
      assertNear(weights, meanWeights([0, 1, 2, 3]), kNearly);
    });
  }
});

describe("a client that lies", () => {
  const wrong = (base64) =>
    Buffer.from(base64, "base64")
      .map((byte) => byte ^ 1)
      .toString("base64");

  test("about the shares of others is refused, and the others' are enough", async () => {
    const unmask = ({ shares }) => ({ shares: shares.map(wrong) });
    const { last, weights } = await runWith({ unmask }, {}, { late: "unmask", heard: kAll });
    assert.deepEqual(last.refused, { shares: 1 });
    assertNear(weights, meanWeights([0, 1, 2, 3]), kNearly);
  });

  test("to others about its own shares takes part no more", async () => {
    const shares = (given) => ({ ...given, boxes: given.boxes.map(wrong) });
    // It cannot open what it has sealed for itself either, and is silent at the last step.
    const how = { late: "unmask", afterFailure: { minClients: 3 } };
    const { last, weights, failures } = await runWith({ shares }, {}, how);
    assert.match(failures[0].message, /"client-3" has given wrong shares/);
    assert.deepEqual(last.clients, kOthers);
    assertNear(weights, meanWeights([0, 1, 2]), kNearly);
  });

  test("about what its shares are of takes part no more", async () => {
    const shares = (given) => ({ ...given, commitment: wrong(given.commitment) });
    const how = { afterFailure: { minClients: 3 } };
    const { last, failures } = await runWith({ shares }, {}, how);
    assert.match(failures[0].message, /"client-3" has given wrong shares/);
    assert.deepEqual(last.clients, kOthers);
  });

  const kNonsense = {
    "a key of small order": [
      "keys",
      () => ({ box: `${"A".repeat(43)}=`, mask: `${"A".repeat(43)}=` }),
    ],
    "no keys": ["keys", () => ({})],
    "keys that are no JSON": ["keys", () => Buffer.from("{")],
    "too few shares": ["shares", ({ boxes, ...rest }) => ({ ...rest, boxes: boxes.slice(1) })],
    "shares of another length": ["shares", (given) => ({ ...given, commitment: "AAAA" })],
    "an update of another length": ["masked", (bytes) => bytes.subarray(4)],
  };
  for (const [what, [phase, make]] of Object.entries(kNonsense)) {
    test(`with ${what} is left out`, async () => {
      const change = { [phase]: make };
      const { last, weights } = await runWith(change, {}, { late: phase, heard: kAll });
      assert.deepEqual(last.clients, kOthers);
      assert.equal(Object.values(last.refused)[0], 1);
      assertNear(weights, meanWeights([0, 1, 2]), kNearly);
    });
  }

  test("with an update of random bits fails the attempt, which tells why", async () => {
    const masked = (bytes, attempt) => (attempt === 1 ? Buffer.alloc(bytes.length, 7) : bytes);
    const { failures } = await runWith({ masked });
    assert.match(failures[0].message, /not one of valid updates/);
  });
});

describe("a coordinator", () => {
  /** Clients wait in the last step for one that does not answer; then the record is changed as a coordinator would that is not to be trusted. */
  async function afterUnmask(change) {
    const run = newRun();
    const options = { ...kUsual, ...kSecure, strategy: new FedAvg(), minUpdates: 4 };
    const coordinator = await serve({ ...run, ...options });
    const other = await secureClient({
      servers: nats.url,
      run: run.run,
      name: "client-3",
      differences: differencesOf(3),
      change: { unmask: () => null },
    });
    const clients = await Promise.all(
      [0, 1, 2].map((i) => join({ ...run, name: `client-${i}`, train: trainerOf(i) })),
    );
    await other.haveAnswered(kOthers, "unmask");
    await coordinator.stop();
    await other.replaceRecord(change);
    const ends = Promise.allSettled(clients.map((client) => client.finished));
    const outcomes = await soon("end of the clients", ends);
    await other.close();
    return outcomes.map(({ reason }) => `${reason}`);
  }

  const withStep = (record, step) => ({
    ...record,
    secure: { ...record.secure, step: { ...record.secure.step, ...step } },
  });

  test("that asks for the other kind of a client's shares gets none", async () => {
    const outcomes = await afterUnmask((record) => withStep(record, { clients: kOthers }));
    assert.equal(outcomes.length, 3);
    for (const outcome of outcomes) {
      assert.match(outcome, /second kind of shares of a client.*cannot be trusted/);
    }
  });

  test("that asks for an update twice gets none", async () => {
    const outcomes = await afterUnmask((record) => withStep(record, { phase: "masked" }));
    for (const outcome of outcomes) assert.match(outcome, /an update was asked for twice/);
  });

  test("without secure aggregation gets nothing of a client that insists on it", async () => {
    const run = newRun();
    const options = { ...kUsual, minClients: 1, minUpdates: 1, strategy: new FedAvg() };
    const coordinator = await serve({ ...run, ...options });
    const client = await join({ ...run, secureAggregation: true, train: trainerOf(0) });
    await assert.rejects(
      soon("error", client.finished),
      /\[join\] secureAggregation: the run .* has none/,
    );
    await coordinator.stop();
  });

  test("that is stopped at each step goes on where it was", async () => {
    const run = newRun();
    const options = { ...run, ...kUsual, ...kSecure, minClients: 3, strategy: new FedAvg() };
    let coordinator = await serve(options);
    const seen = new Set();
    // One of the second make tells of each step before it answers.
    const stops = [];
    const change = Object.fromEntries(
      ["keys", "shares", "masked", "unmask"].map((phase) => [
        phase,
        (answer) => {
          seen.add(phase);
          stops.push(
            coordinator.stop().then(async () => {
              coordinator = await serve(options);
            }),
          );
          return answer;
        },
      ]),
    );
    const other = await secureClient({
      servers: nats.url,
      run: run.run,
      name: "client-2",
      differences: differencesOf(2),
      samples: pointsOf(2)[1].numel,
      change,
    });
    const clients = await Promise.all(
      [0, 1].map((i) => join({ ...run, name: `client-${i}`, train: trainerOf(i) })),
    );
    const ends = Promise.all(clients.map(({ finished }) => finished));
    await soon("end of the clients", ends);
    await Promise.all(stops);
    const { rounds } = await endOf(coordinator);
    assert.equal(seen.size, 4);
    assert.deepEqual(rounds[0].clients, kOthers);
    assertNear(flat(coordinator.stateDict()), meanWeights([0, 1, 2]), kNearly);
    await other.close();
  });
});

describe("serve() refuses secure aggregation", () => {
  const refused = (options) =>
    serve({ ...newRun(), ...kUsual, ...kSecure, strategy: new FedAvg(), ...options });
  const kRefused = {
    "with Median": [{ strategy: new Median() }, /secureAggregation: Median needs the updates/],
    "with TrimmedMean": [{ strategy: new TrimmedMean({ share: 0.1 }) }, /TrimmedMean/],
    "with Krum": [{ strategy: new Krum({ byzantine: 0 }), minClients: 4, minUpdates: 4 }, /Krum/],
    "with compression": [{ compression: {} }, /cannot be compressed/],
    "with privacy": [{ privacy: { clip: 1, noiseMultiplier: 1 } }, /clip/],
    "of one update": [{ minUpdates: 1 }, /the sum of one update is that update/],
    "that two groups could undo": [{ secureAggregation: { threshold: 0.4 } }, /threshold/],
  };
  for (const [what, [options, message]] of Object.entries(kRefused)) {
    test(what, () => assert.rejects(refused(options), message));
  }

  test("in a run that was begun without", async () => {
    const run = newRun();
    const options = { ...run, ...kUsual, strategy: new FedAdam() };
    const coordinator = await serve(options);
    await coordinator.stop();
    await assert.rejects(
      serve({ ...options, ...kSecure }),
      /was begun with secure aggregation null/,
    );
  });
});

test("an update beyond the range is not sent", async () => {
  const run = newRun();
  const options = { ...run, ...kUsual, ...kSecure, minClients: 3, strategy: new FedAvg() };
  const first = await serve(options);
  const trainers = [0, 1, 2].map((i) => async (input) => {
    const result = await trainerOf(i)(input);
    if (i === 2) eg.noGrad(() => input.model.parameters()[0].add_(9));
    return result;
  });
  const clients = [];
  const outcomes = trainers.map(
    (train, i) =>
      new Promise((resolve) => {
        const onRound = ({ outcome }) => resolve(outcome);
        clients.push(join({ ...run, name: `client-${i}`, train, onRound }));
      }),
  );
  const found = await soon("outcome of each client", Promise.all(outcomes));
  const coordinator = await passDeadline(first, options);
  const { rounds } = await endOf(coordinator, await Promise.all(clients));
  assert.deepEqual(rounds[0].clients, ["client-0", "client-1"]);
  assert.deepEqual(found, ["sent", "sent", "refused"]);
});
