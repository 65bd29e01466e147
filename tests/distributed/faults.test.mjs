// Processes that are killed, paused, late or gone, and servers that are: an error on every other rank, and never a hang.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as eg from "edgegrad";
import { initProcessGroup } from "edgegrad/distributed";
import { startNats } from "../../examples/support/nats_server.mjs";
import { runProgram } from "../js/support/child.mjs";
import { newGroup, startRank } from "./support/ranks.mjs";
import { lossesAlone } from "./support/task.mjs";

let nats;
before(async () => {
  await eg.init({ threads: 1 });
  nats = await startNats();
});
after(() => nats.close());

function startAll(scenario, group, more) {
  return Array.from({ length: group.worldSize }, (_, rank) =>
    startRank(scenario, { ...group, rank }, more),
  );
}

async function assertLost(rank, pattern) {
  const { error } = await rank.ended;
  assert.equal(error?.code, "DeviceLost", JSON.stringify(error));
  assert.equal(error.isOurs, true);
  assert.match(error.message, pattern);
}

// A rank that hangs fails its test, and not the whole run.
const kNoHang = { timeout: 120_000 };

describe("a rank that is", kNoHang, () => {
  for (const isBlocking of [false, true]) {
    const where = isBlocking ? "backward" : "allReduce";
    test(`killed: an error on the others in ${where}`, async () => {
      const ranks = startAll("sumForever", newGroup(nats.url, 3), { isBlocking });
      await Promise.all(ranks.map((rank) => rank.told("summing")));
      await ranks[1].kill();
      const pattern = new RegExp(`^\\[${where}\\] (rank \\d has given up: )?rank 1 is lost`);
      await assertLost(ranks[0], pattern);
      await assertLost(ranks[2], pattern);
    });
  }

  test("paused: an error on the others, and on itself when it goes on", async () => {
    const ranks = startAll("sumForever", newGroup(nats.url, 2), {});
    await Promise.all(ranks.map((rank) => rank.told("summing")));
    ranks[1].signal("SIGSTOP");
    await assertLost(ranks[0], /rank 1 is lost: it has given no sign of life; rejoin\(\)/);
    ranks[1].signal("SIGCONT");
    await assertLost(ranks[1], /lost|given up|formed again/);
  });

  test("late: an error on all after the time limit", async () => {
    const group = newGroup(nats.url, 2, { timeout: 1000 });
    const ranks = startAll("sumSome", group, { isLate: true });
    await assertLost(ranks[0], /^\[allReduce\] allReduce\(\) has waited for 1000 ms for rank 1; /);
    await ranks[1].kill();
  });

  test("gone on purpose: an error on those who wait for it", async () => {
    const ranks = startAll("sumSome", newGroup(nats.url, 2), {});
    await assertLost(ranks[0], /^\[allReduce\] rank 1 has left the group; /);
    assert.deepEqual(await ranks[1].ended, { result: null });
  });
});

test("who has left is not missed by operations that need nothing of it", kNoHang, async () => {
  const ranks = startAll("receiveLate", newGroup(nats.url, 3), {});
  for (const { ended } of ranks) assert.deepEqual(await ended, { result: [1, 1, 1] });
});

describe("a server that", kNoHang, () => {
  test("is killed: an error on all ranks", async () => {
    const own = await startNats();
    try {
      const ranks = startAll("sumForever", newGroup(own.url, 2), {});
      await Promise.all(ranks.map((rank) => rank.told("summing")));
      await own.kill();
      for (const rank of ranks) await assertLost(rank, /is lost|interrupted/);
    } finally {
      await own.close();
    }
  });

  test("is killed and starts again: an error on all ranks", async () => {
    const own = await startNats();
    try {
      const group = newGroup(own.url, 2, { lostAfter: 30_000 });
      const ranks = startAll("sumForever", group, { isBlocking: true });
      await Promise.all(ranks.map((rank) => rank.told("summing")));
      await own.kill();
      await own.start();
      for (const rank of ranks) await assertLost(rank, /the connection to the server was interrupted/);
    } finally {
      await own.close();
    }
  });

  test("is not there: an error", async () => {
    const servers = "nats://127.0.0.1:1";
    await assert.rejects(initProcessGroup({ servers, worldSize: 2 }), {
      code: "InvalidArgument",
      message: /^\[initProcessGroup\] cannot connect to nats:\/\/127\.0\.0\.1:1: /,
    });
  });
});

describe("a group", kNoHang, () => {
  test("that does not come together ends with an error that says who is missing", async () => {
    const group = newGroup(nats.url, 3, { joinTimeout: 500 });
    await assert.rejects(initProcessGroup(group), {
      code: "InvalidArgument",
      message: /^\[initProcessGroup\] no group after 500 ms: 1 of 3 processes are there\.$/,
    });
  });

  test("that is whole takes nobody else", async () => {
    const group = newGroup(nats.url, 1, { joinTimeout: 500 });
    const first = await initProcessGroup(group);
    await assert.rejects(initProcessGroup(group), /the run has its 1 processes already/);
    await first.destroy();
    const second = await initProcessGroup(group);
    assert.deepEqual([second.rank, second.generation], [0, 2]);
    await second.destroy();
  });

  test("goes on with a new process in place of a killed one, with the losses of one process", async (t) => {
    const group = newGroup(nats.url, 2);
    const more = { steps: 40, lr: 0.1 };
    const start = () => startRank("trainElastic", group, more);
    const [survivor, first] = [start(), start()];
    await Promise.all([survivor, first].map((rank) => rank.told("step 5")));
    await first.kill();
    const second = start();
    await second.told("step 20");
    await second.kill();
    const third = start();
    const [a, b] = await Promise.all([survivor.result(), third.result()]);
    const alone = await lossesAlone("mlp", { seed: 5, lr: more.lr, steps: more.steps });
    const { losses, rejoins, generation, source, rank } = a;
    assert.equal(rejoins, 2);
    assert.equal(generation, 3);
    assert.equal(source, rank);
    const worst = Math.max(...losses.map((loss, i) => Math.abs(loss - alone[i])));
    t.diagnostic(`at most ${worst} apart`);
    assert.ok(losses.length === more.steps && worst <= 1e-5, `${worst}`);
    assert.equal(b.losses.at(-1), losses.at(-1));
    assert.equal(b.source, source);
  });

  test("grows and shrinks between minWorldSize and worldSize, with the losses of one process", async (t) => {
    const group = newGroup(nats.url, 3, { minWorldSize: 1, lastCall: 500 });
    const more = { steps: 90, lr: 0.1 };
    const start = () => startRank("trainElastic", group, more);
    const first = start();
    await first.told("size 1");
    const second = start();
    await first.told("size 2");
    const third = start();
    await Promise.all([first, third].map((rank) => rank.told("size 3")));
    await second.kill();
    const [a, b] = await Promise.all([first.result(), third.result()]);
    const alone = await lossesAlone("mlp", { seed: 5, lr: more.lr, steps: more.steps });
    const { losses, sizes, rejoins } = a;
    const changes = sizes.filter((size, i) => size !== sizes[i - 1]);
    assert.deepEqual([...new Set(changes)], [1, 2, 3]);
    assert.equal(changes.at(-1), 2);
    assert.ok(rejoins >= 3, `${rejoins}`);
    const worst = Math.max(...losses.map((loss, i) => Math.abs(loss - alone[i])));
    t.diagnostic(`at most ${worst} apart, sizes ${changes}`);
    assert.ok(losses.length === more.steps && worst <= 1e-5, `${worst}`);
    assert.equal(b.losses.at(-1), losses.at(-1));
    assert.ok(b.rank < 2);
  });

  test("waits for more than the fewest, and no longer than lastCall", async () => {
    const options = newGroup(nats.url, 3, { minWorldSize: 2, lastCall: 1500 });
    const groups = await Promise.all([1, 2, 3].map(() => initProcessGroup(options)));
    assert.deepEqual(
      groups.map(({ worldSize, generation }) => [worldSize, generation]),
      [1, 2, 3].map(() => [3, 1]),
    );
    assert.deepEqual(groups.map(({ rank }) => rank).sort(), [0, 1, 2]);
    await Promise.all(groups.map((group) => group.destroy()));
    const two = await Promise.all([1, 2].map(() => initProcessGroup(options)));
    assert.deepEqual(
      two.map(({ worldSize }) => worldSize),
      [2, 2],
    );
    await Promise.all(two.map((group) => group.destroy()));
    const one = { ...options, joinTimeout: 2500 };
    await assert.rejects(initProcessGroup(one), /no group after 2500 ms: 1 of 3 processes/);
  });

  test("refuses sizes that do not fit", async () => {
    const refused = (more, message) =>
      assert.rejects(initProcessGroup(newGroup(nats.url, 3, more)), message);
    await refused({ minWorldSize: 4 }, /minWorldSize: expected a whole number of at least 1 and/);
    await refused({ minWorldSize: 0 }, /minWorldSize/);
    await refused({ minWorldSize: 2, rank: 0 }, /rank: cannot be chosen/);
  });

  test("a program that forgets destroy() ends", async () => {
    const program = `
      import { init, ones } from "edgegrad";
      import { allReduce, initProcessGroup } from "edgegrad/distributed";
      await init();
      await initProcessGroup(${JSON.stringify(newGroup(nats.url, 1))});
      console.log((await allReduce(ones([2]))).arraySync());`;
    const { stdout, stderr } = await runProgram(program);
    assert.deepEqual([stdout, stderr], ["[ 1, 1 ]\n", ""]);
  });
});
