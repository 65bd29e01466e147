// Strategies whose clients keep something from round to round, against the same algorithm in plain numbers.

import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import * as eg from "edgegrad";
import { DiLoCo, Scaffold } from "edgegrad/federated";
import { startNats } from "../../examples/support/nats_server.mjs";
import { soon, until } from "../support/until.mjs";
import { join, serve } from "./support/members.mjs";
import {
  gradientOf,
  makeRegression,
  meanOf,
  pointsOf,
  trainerOf,
  weightsOf,
} from "./support/regression.mjs";
import { endOf, kNever, passDeadline } from "./support/runs.mjs";

let nats;
await eg.init();
before(async () => {
  nats = await startNats();
});
after(() => nats.close());

const kClients = [0, 1, 2];
const kTraining = { steps: 4, lr: 0.1 };
const kUsual = { rounds: 5, minClients: 3, deadline: kNever, seed: 3 };
let runs = 0;
const newRun = () => ({ servers: nats.url, run: `local${runs++}`, model: makeRegression });

function startWeights() {
  eg.manualSeed(kUsual.seed);
  return weightsOf(makeRegression().stateDict());
}

/** A whole run; `inRound` is called at each client's round, and `afterRound` after it. The deadline passes when `isOverdue` resolves. */
async function wholeRun(
  options,
  { inRound = () => {}, afterRound = () => {}, isOverdue = null } = {},
) {
  const run = newRun();
  const all = { ...run, ...kUsual, ...options };
  let coordinator = await serve(all);
  const clients = await Promise.all(
    kClients.map((i) => {
      const train = trainerOf(i, kTraining);
      return join({
        ...run,
        name: `client-${i}`,
        train: async (input) => {
          await inRound(i, input);
          return train(input);
        },
        onRound: ({ round }) => afterRound(i, round),
      });
    }),
  );
  if (isOverdue !== null) {
    await soon("round that is overdue", isOverdue);
    coordinator = await passDeadline(coordinator, all);
  }
  const history = await endOf(coordinator, clients);
  const state = coordinator.stateDict();
  return { history, state, weights: weightsOf(state), clients };
}

function assertNear(found, expected, tolerance = 1e-5) {
  assert.equal(found.length, expected.length);
  for (const [i, value] of found.entries()) {
    assert.ok(Math.abs(value - expected[i]) <= tolerance, `${found} is not ${expected}`);
  }
}

/** SCAFFOLD with full participation, with option II for the control variates. */
function scaffold(rounds, lr) {
  let global = startWeights();
  let server = global.map(() => 0);
  const own = kClients.map(() => global.map(() => 0));
  for (let round = 0; round < rounds; round++) {
    const moves = [];
    const changes = [];
    for (const client of kClients) {
      const points = pointsOf(client);
      let weights = [...global];
      for (let step = 0; step < kTraining.steps; step++) {
        const gradient = gradientOf(weights, points);
        weights = weights.map(
          (one, i) => one - kTraining.lr * (gradient[i] - own[client][i] + server[i]),
        );
      }
      const next = own[client].map(
        (one, i) => one - server[i] + (global[i] - weights[i]) / (kTraining.steps * kTraining.lr),
      );
      moves.push(weights.map((one, i) => one - global[i]));
      changes.push(next.map((one, i) => one - own[client][i]));
      own[client] = next;
    }
    global = global.map((one, i) => one + lr * meanOf(moves)[i]);
    server = server.map((one, i) => one + meanOf(changes)[i]);
  }
  return { global, own };
}

/** Streaming DiLoCo: a round is about one of the parts [bias] and [weights]. */
function streamingDiLoCo(rounds, { lr, momentum }) {
  const global = startWeights();
  const locals = kClients.map(() => [...global]);
  const buffer = global.map(() => 0);
  const kParts = [[3], [0, 1, 2]];
  for (let round = 0; round < rounds; round++) {
    const part = kParts[round % 2];
    for (const client of kClients) {
      for (let step = 0; step < kTraining.steps; step++) {
        const gradient = gradientOf(locals[client], pointsOf(client));
        locals[client] = locals[client].map((one, i) => one - kTraining.lr * gradient[i]);
      }
    }
    const mean = meanOf(locals);
    for (const i of part) {
      const gradient = global[i] - mean[i];
      buffer[i] = momentum * buffer[i] + gradient;
      global[i] -= lr * (gradient + momentum * buffer[i]);
      for (const local of locals) local[i] = global[i];
    }
  }
  return global;
}

describe("Scaffold", () => {
  test("equals the algorithm in plain numbers, round by round", async () => {
    for (const [rounds, lr] of [
      [1, 1],
      [2, 1],
      [5, 0.8],
    ]) {
      const strategy = new Scaffold({ clients: 3, lr });
      const { weights, state, clients } = await wholeRun({ strategy, rounds });
      const { global, own } = scaffold(rounds, lr);
      assertNear(weights, global);
      assert.deepEqual(Object.keys(state).sort(), ["0.bias", "0.weight"]);
      for (const [i, client] of clients.entries()) {
        const { "control:0.weight": weight, "control:0.bias": bias } = client.stateDict();
        assertNear([...weight.dataSync(), ...bias.dataSync()], own[i]);
      }
    }
  });

  test("sends compressed updates", async () => {
    const strategy = new Scaffold({ clients: 3 });
    const { weights } = await wholeRun({ strategy, compression: { dtype: "float16" } });
    assertNear(weights, scaffold(5, 1).global, 0.02);
  });

  test("counts the clients that do not take part in a round", () => {
    const filled = (weight, control) => ({
      weight: eg.tensor([weight]),
      "control:weight": eg.tensor([control]),
    });
    const updates = [filled(4, 3), filled(8, 5)].map((weights, i) => ({
      client: `${i}`,
      samples: 1 + i,
      weights,
    }));
    const next = new Scaffold({ clients: 8, lr: 0.5 }).aggregate(filled(2, 2), updates, 1);
    assert.equal(next.weight.item(), 4);
    assert.equal(next["control:weight"].item(), 2.5);
  });

  test("goes on with a coordinator and clients that are started again", async () => {
    const run = newRun();
    const options = { ...run, ...kUsual, strategy: new Scaffold({ clients: 3 }) };
    const joinAll = (states) =>
      Promise.all(
        kClients.map((i) =>
          join({ ...run, name: `client-${i}`, train: trainerOf(i, kTraining), state: states?.[i] }),
        ),
      );
    const first = await serve({ ...options, rounds: 2 });
    const before = await joinAll();
    await endOf(first, before);
    const second = await serve(options);
    await until("coordinator that leads", () => second.leads);
    const clients = await joinAll(before.map((client) => client.stateDict()));
    await endOf(second, clients);
    assertNear(weightsOf(second.stateDict()), scaffold(5, 1).global);
  });

  test("is refused with secure aggregation and without the number of clients", async () => {
    assert.throws(() => new Scaffold({}), /\[Scaffold\] clients/);
    const strategy = new Scaffold({ clients: 3 });
    const options = { ...newRun(), ...kUsual, strategy, secureAggregation: {} };
    await assert.rejects(serve(options), /secureAggregation: Scaffold needs the updates/);
  });

  test("a state that is none is refused", async () => {
    const options = { ...newRun(), train: trainerOf(0, kTraining), state: { a: 1 } };
    await assert.rejects(join(options), /\[join\] state: expected tensors by name/);
  });
});

describe("DiLoCo in fragments", () => {
  const kOuter = { lr: 0.7, momentum: 0.9 };

  test("equals streaming DiLoCo in plain numbers", async () => {
    for (const rounds of [1, 2, 5]) {
      const strategy = new DiLoCo({ ...kOuter, fragments: 2 });
      const { weights } = await wholeRun({ strategy, rounds });
      assertNear(weights, streamingDiLoCo(rounds, kOuter));
    }
  });

  test("with compression keeps what each fragment has lost", async () => {
    const strategy = new DiLoCo({ ...kOuter, fragments: 2 });
    const compression = { dtype: "float16" };
    const { weights } = await wholeRun({ strategy, compression });
    assertNear(weights, streamingDiLoCo(5, kOuter), 0.01);
  });

  test("with secure aggregation sums the fragment", async () => {
    const strategy = new DiLoCo({ ...kOuter, fragments: 2 });
    const { weights } = await wholeRun({ strategy, secureAggregation: {} });
    assertNear(weights, streamingDiLoCo(5, kOuter));
  });

  test("a client that missed a round loads all weights, and the others go on with theirs", async () => {
    const seen = [];
    const strategy = new DiLoCo({ ...kOuter, fragments: 2 });
    // Round 2 is overdue when client 2 trains and the others have sent their updates.
    const waiting = new Set(kClients);
    let tell = () => {};
    const isOverdue = new Promise((resolve) => {
      tell = resolve;
    });
    const done = (i) => {
      waiting.delete(i);
      if (waiting.size === 0) tell();
    };
    const inRound = async (i, { model, round, signal }) => {
      if (i === 2 && round === 2) {
        done(i);
        if (!signal.aborted) await once(signal, "abort");
      }
      if (round === 3) seen[i] = weightsOf(model.stateDict());
    };
    const afterRound = (i, round) => round === 2 && done(i);
    const options = { strategy, rounds: 3, minUpdates: 2 };
    const how = { inRound, afterRound, isOverdue };
    const { history, weights } = await wholeRun(options, how);
    assert.deepEqual(history.rounds[1].clients, ["client-0", "client-1"]);
    // Round 2 was about the weights, and the bias is each client's own, but for the one that was late.
    for (let j = 0; j < 3; j++) assert.equal(seen[0][j], seen[2][j]);
    assert.notEqual(seen[0][3], seen[1][3]);
    assert.ok(weights.every(Number.isFinite));
  });

  test("a coordinator that is started again goes on with the same fragment", async () => {
    const run = newRun();
    const options = { ...run, ...kUsual, strategy: new DiLoCo({ ...kOuter, fragments: 2 }) };
    let coordinator = await serve(options);
    let restarted = Promise.resolve();
    const clients = await Promise.all(
      kClients.map((i) => {
        const train = trainerOf(i, kTraining);
        return join({
          ...run,
          name: `client-${i}`,
          train: async (input) => {
            if (i === 0 && input.round === 3) {
              restarted = coordinator.stop().then(async () => {
                const strategy = new DiLoCo({ ...kOuter, fragments: 2 });
                coordinator = await serve({ ...options, strategy });
              });
              await restarted;
            }
            return train(input);
          },
        });
      }),
    );
    const ends = Promise.all(clients.map(({ finished }) => finished));
    await soon("end of the clients", ends);
    await restarted;
    await endOf(coordinator);
    assertNear(weightsOf(coordinator.stateDict()), streamingDiLoCo(5, kOuter));
  });

  test("takes so many times fewer bytes, in parts of about the same size", async () => {
    const model = () =>
      new eg.nn.Sequential(...Array.from({ length: 4 }, () => new eg.nn.Linear(64, 64)));
    const bytesWith = async (fragments) => {
      const run = { ...newRun(), model };
      const strategy = new DiLoCo({ fragments });
      const options = { ...run, ...kUsual, rounds: 8, minClients: 1, strategy };
      const coordinator = await serve(options);
      const client = await join({ ...run, train: async () => ({ samples: 1 }) });
      const { rounds } = await endOf(coordinator, [client]);
      return rounds.map(({ bytesUp, bytesDown }) => [bytesUp, bytesDown]);
    };
    const whole = await bytesWith(1);
    const parts = await bytesWith(4);
    for (const [i, [up, down]] of parts.entries()) {
      assert.ok(up < whole[i][0] / 3, `${up} of ${whole[i][0]}`);
      if (i > 0) assert.ok(down < whole[i][1] / 3, `${down} of ${whole[i][1]}`);
    }
  });
});

test("fragments: a whole number of at least 1", () => {
  for (const fragments of [0, 1.5, "2"]) {
    assert.throws(() => new DiLoCo({ fragments }), /\[DiLoCo\] fragments: expected a whole number/);
  }
});
