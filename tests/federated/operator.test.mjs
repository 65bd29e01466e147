// What an operator and clients are told: verdicts, refusals, extensions, a round that is given up, a store without room, a name that is in use.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { headers } from "@nats-io/nats-core";
import * as eg from "edgegrad";
import { FedAvg, MemoryNetwork } from "edgegrad/federated";
import { startNats } from "../../examples/support/nats_server.mjs";
import { soon, until } from "../support/until.mjs";
import { fill } from "./support/full_server.mjs";
import { join, serve } from "./support/members.mjs";
import { startClient } from "./support/processes.mjs";
import { rawClient } from "./support/raw_client.mjs";
import { referenceWeights } from "./support/reference.mjs";
import { endOf, kNever, passDeadline } from "./support/runs.mjs";
import { makeModel, numbersOf, trainerOf } from "./support/task.mjs";

let nats;
await eg.init();
before(async () => {
  nats = await startNats();
});
after(() => nats.close());

let runs = 0;
const newRun = () => ({ servers: nats.url, run: `operator${runs++}`, model: makeModel });
const kUsual = { rounds: 1, minClients: 2, deadline: kNever, seed: 3 };

/** Begins a run whose events are collected. */
async function begin(run, options) {
  const events = [];
  const strategy = new FedAvg();
  const onEvent = (event) => events.push(event);
  const coordinator = await serve({ ...run, ...kUsual, strategy, onEvent, ...options });
  const of = (type) => events.filter((event) => event.type === type);
  const told = (type) => until(`event ${type}`, () => of(type)[0]);
  return { coordinator, events, of, told };
}

const spoil = (model, value) => eg.noGrad(() => model.parameters()[0].fill_(value));

describe("a client whose update is refused", () => {
  for (const compression of [undefined, { dtype: "int8" }, { dtype: "float16" }]) {
    test(`is told why, and may send another one (${compression?.dtype ?? "weights"})`, async () => {
      const run = newRun();
      const { coordinator, of } = await begin(run, { rounds: 2, compression });
      const good = await join({ ...run, name: "client-0", train: trainerOf(0) });
      const told = [];
      const ends = [];
      const other = await join({
        ...run,
        name: "client-1",
        onRound: (end) => ends.push(end),
        train: async (input) => {
          told.push([input.round, input.refused]);
          const result = await trainerOf(1)(input);
          if (told.length === 1) spoil(input.model, Number.NaN);
          return result;
        },
      });
      const { rounds } = await endOf(coordinator, [good, other]);
      const reason = { reason: "values", message: told[1][1].message };
      if (compression === undefined) assert.match(reason.message, /^"0\.weight" has NaN or inf/);
      assert.deepEqual(told, [
        [1, undefined],
        [1, reason],
        [2, undefined],
      ]);
      assert.deepEqual(
        ends.map(({ outcome }) => outcome),
        ["sent", "sent"],
      );
      for (const { clients } of rounds) assert.deepEqual(clients, ["client-0", "client-1"]);
      assert.deepEqual(rounds[0].refused, { values: 1 });
      assert.deepEqual(
        of("refused").map(({ client, reason, level, round }) => [client, reason, level, round]),
        [["client-1", "values", "warning", 1]],
      );
      if (compression !== undefined) return;
      const expected = referenceWeights({ clients: 2, rounds: 2, seed: 3 });
      assert.deepEqual(numbersOf(coordinator.stateDict()), expected);
    });
  }

  test("as often as it may is told so, and the round ends with what there is", async () => {
    const run = newRun();
    const options = { maxExtensions: 2, limits: { norm: 10, attempts: 2 } };
    const { coordinator: first, told } = await begin(run, options);
    const good = await join({ ...run, name: "client-0", train: trainerOf(0) });
    const messages = [];
    let tell = () => {};
    const isOver = new Promise((resolve) => {
      tell = resolve;
    });
    const bad = await join({
      ...run,
      name: "client-1",
      onRound: tell,
      train: async ({ model, refused }) => {
        messages.push(refused?.message);
        spoil(model, 1e6 * messages.length);
        return { samples: 1 };
      },
    });
    const end = await soon("end of its attempts", isOver);
    assert.match(`${messages[1]}`, /^norm 1\.13e\+7 over the limit 10$/);
    assert.equal(messages.length, 2);
    assert.equal(end.outcome, "refused");
    assert.match(end.message, /^norm 2\.26e\+7 over the limit 10$/);
    await told("refused");
    const events = [];
    const onEvent = (event) => events.push(event);
    const all = { ...run, ...kUsual, ...options, strategy: new FedAvg(), onEvent };
    const coordinator = await passDeadline(first, { ...all, deadline: 50 });
    const { rounds } = await endOf(coordinator, [good, bad]);
    assert.deepEqual(rounds[0].clients, ["client-0"]);
    const extended = events.filter(({ type }) => type === "extended");
    assert.equal(extended.length, 2);
    assert.match(extended[1].message, /1 of at least 2 updates .* extension 2 of 2/);
    const expected = referenceWeights({ clients: 1, rounds: 1, seed: 3 });
    assert.deepEqual(numbersOf(coordinator.stateDict()), expected);
  });

  test("may send the same one as often as any other, and no more", async () => {
    const run = newRun();
    const { coordinator, of } = await begin(run, { minUpdates: 1, limits: { attempts: 3 } });
    const good = await join({ ...run, name: "client-0", train: trainerOf(0) });
    let attempts = 0;
    const bad = await join({
      ...run,
      name: "client-1",
      train: async ({ model }) => {
        attempts++;
        spoil(model, Number.NaN);
        return { samples: 1 };
      },
    });
    // The round ends before its deadline: no more updates can come.
    const { rounds } = await endOf(coordinator, [good, bad]);
    assert.equal(attempts, 3);
    assert.deepEqual(rounds[0].refused, { values: 3 });
    assert.equal(of("refused").length, 3);
  });

  test("in memory too", async () => {
    const run = { ...newRun(), servers: new MemoryNetwork() };
    const { coordinator } = await begin(run, { minClients: 1 });
    let attempts = 0;
    const client = await join({
      ...run,
      train: async ({ model, refused }) => {
        if (attempts++ === 0) spoil(model, Number.NaN);
        else assert.equal(refused.reason, "values");
        return { samples: 1 };
      },
    });
    const { rounds } = await endOf(coordinator, [client]);
    assert.equal(attempts, 2);
    assert.deepEqual(rounds[0].refused, { values: 1 });
  });
});

test("a round with fewer than minUpdates is given up, told of, and opened again", async () => {
  const run = newRun();
  const options = { minUpdates: 2, deadline: 50, maxExtensions: 1, limits: { attempts: 1 } };
  const { coordinator, of, told } = await begin(run, options);
  let isSound = false;
  const clients = await Promise.all(
    [0, 1].map((i) =>
      join({
        ...run,
        name: `client-${i}`,
        train: async (input) => {
          const result = await trainerOf(i)(input);
          if (i === 1 && !isSound) spoil(input.model, Number.NaN);
          return result;
        },
      }),
    ),
  );
  const event = await told("givenUp");
  assert.match(event.message, /1 of at least 2 updates after 1 extensions, refused \{"values":1\}/);
  isSound = true;
  const { rounds } = await endOf(coordinator, clients);
  assert.deepEqual(rounds[0].clients, ["client-0", "client-1"]);
  assert.deepEqual(
    numbersOf(coordinator.stateDict()),
    referenceWeights({ clients: 2, rounds: 1, seed: 3 }),
  );
  assert.ok(of("opened").length >= 2);
});

describe("two processes with one name", () => {
  test("are not let in: the second is refused at join()", async () => {
    const run = newRun();
    const { coordinator, told } = await begin(run, { minClients: 2 });
    await told("leading");
    const first = await join({ ...run, name: "client-0", train: trainerOf(0) });
    await until("client that is there", () => coordinator.clients.length === 1);
    await assert.rejects(join({ ...run, name: "client-0", train: trainerOf(1) }), {
      code: "InvalidArgument",
      message: /\[join\] name: another process takes part in run "operator\d+" as "client-0"/,
    });
    assert.equal((await told("refused")).reason, "session");
    const second = await join({ ...run, name: "client-1", train: trainerOf(1) });
    await endOf(coordinator, [first, second]);
  });
});

test("a client of the open round that is killed is reported while the round waits for it", async (t) => {
  const run = newRun();
  const { coordinator, told } = await begin(run);
  const good = await join({ ...run, name: "client-0", train: trainerOf(0) });
  const gone = startClient({
    servers: run.servers,
    run: run.run,
    client: 1,
    name: "client-1",
    pause: kNever,
  });
  await told("opened");
  await gone.kill();
  // The clock by which the coordinator tells how long nothing has been heard.
  const now = performance.now.bind(performance);
  const clock = t.mock.method(performance, "now", () => now() + 4000);
  const { message, level } = await told("stalled");
  assert.match(message, /^the round waits for 1 updates; nothing is heard of client-1\.$/);
  assert.equal(level, "warning");
  clock.mock.restore();
  const again = await join({ ...run, name: "client-1", train: trainerOf(1) });
  await endOf(coordinator, [good, again]);
});

describe("a client that asks too often", () => {
  test("is told to be slower, and then not answered, and others are", async () => {
    const run = newRun();
    const { coordinator, told } = await begin(run, { limits: { asksPerSecond: 20 } });
    let goOn = () => {};
    const mayGoOn = new Promise((resolve) => {
      goOn = resolve;
    });
    const train = (client) => async (input) => {
      await mayGoOn;
      return trainerOf(client)(input);
    };
    const clients = await Promise.all(
      [0, 1].map((i) => join({ ...run, name: `client-${i}`, train: train(i) })),
    );
    await told("opened");
    const raw = await rawClient({ ...run, name: "flood" });
    const head = headers();
    head.set("EdgeGrad-Ask", "record");
    head.set("EdgeGrad-Session", "raw");
    const ask = async () => {
      const options = { headers: head, timeout: 500 };
      const asked = raw.connection.request(`edgegrad.${run.run}.ask.flood`, "", options);
      return asked.then(
        (answer) => answer.headers.get("EdgeGrad-Status"),
        () => "none",
      );
    };
    const answers = [];
    while (answers.length < 500 && answers.at(-1) !== "none") answers.push(await ask());
    await raw.close();
    goOn();
    assert.deepEqual([...new Set(answers)], ["ok", "busy", "none"]);
    assert.equal((await told("refused")).reason, "flood");
    await endOf(coordinator, clients);
  });

  test("or sends more than its bytes of an hour, may send no more", async () => {
    const run = newRun();
    const { coordinator, events } = await begin(run, {
      rounds: 2,
      minClients: 1,
      maxExtensions: 0,
      limits: { bytesPerHour: 2000 },
    });
    const ends = [];
    const onRound = (end) => ends.push(end);
    const client = await join({ ...run, name: "client-0", train: trainerOf(0), onRound });
    await until("refusal", () => ends.find(({ outcome }) => outcome === "refused"));
    assert.deepEqual(
      ends.map(({ round, outcome }) => [round, outcome]),
      [
        [1, "sent"],
        [2, "refused"],
      ],
    );
    assert.equal(ends[1].reason, "flood");
    assert.ok(events.some(({ reason }) => reason === "quota"));
    await client.leave();
    await coordinator.stop();
  });
});

describe("a server without room", () => {
  const kServers = {
    "of the server": { jetstream: "max_file_store: 3M" },
    "of an account": {
      config: `accounts { A: {
        jetstream: { max_file: 3M, max_mem: 1M }
        users: [{ user: a, password: a }]
      } }`,
    },
  };
  for (const [whose, how] of Object.entries(kServers)) {
    test(`within the limits ${whose} is told of at once and asked again, and the run goes on`, async () => {
      const own = await startNats(how);
      try {
        const credentials = how.config && { user: "a", password: "a" };
        const run = { ...newRun(), servers: own.url, ...(credentials && { credentials }) };
        const { coordinator, events, told } = await begin(run, { rounds: 2, minClients: 1 });
        let makeRoom = null;
        const client = await join({
          ...run,
          name: "client-0",
          train: async (input) => {
            makeRoom ??= await fill(own, credentials);
            return trainerOf(0)(input);
          },
        });
        const failure = await told("storeFailed");
        assert.equal(failure.level, "warning");
        await makeRoom();
        await told("storeRecovered");
        const { rounds } = await endOf(coordinator, [client]);
        assert.equal(rounds.length, 2, JSON.stringify(events));
        const expected = referenceWeights({ clients: 1, rounds: 2, seed: 3 });
        assert.deepEqual(numbersOf(coordinator.stateDict()), expected);
      } finally {
        await own.close();
      }
    });
  }
});

test("clocks do not matter: a coordinator that was an hour ahead does not block its successor", async (t) => {
  const run = newRun();
  const options = { deadline: 200, minUpdates: 1, maxExtensions: 100 };
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() + 3_600_000 });
  const { coordinator: first, told } = await begin(run, { ...options, deadline: kNever });
  let hasTrained = () => {};
  const trains = new Promise((resolve) => {
    hasTrained = resolve;
  });
  const slow = await join({
    ...run,
    name: "client-1",
    train: async ({ signal }) => {
      hasTrained();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  });
  const good = await join({ ...run, name: "client-0", train: trainerOf(0) });
  await told("opened");
  await soon("training", trains);
  await first.stop();
  t.mock.timers.reset();
  const strategy = new FedAvg();
  const second = await passDeadline(
    first,
    { ...run, ...kUsual, ...options, strategy, onEvent: () => {} },
    100,
  );
  const { rounds } = await endOf(second, [good, slow]);
  assert.deepEqual(rounds[0].clients, ["client-0"]);
});
