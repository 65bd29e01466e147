// Processes that are killed, paused, late or gone, and servers that are: an error on every other rank, and never a hang.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as eg from "edgegrad";
import { initProcessGroup } from "edgegrad/distributed";
import { startNats } from "../../examples/support/nats_server.mjs";
import { Wire } from "../federated/support/wire.mjs";
import { runProgram } from "../js/support/child.mjs";
import { newGroup, startRank, startRanks } from "./support/ranks.mjs";
import { startRefusing } from "./support/refusing_server.mjs";
import { lossesAlone } from "./support/task.mjs";

let nats;
before(async () => {
  await eg.init({ threads: 1 });
  nats = await startNats();
});
after(() => nats.close());

async function assertLost(rank, pattern) {
  const { error } = await rank.ended();
  assert.equal(error?.code, "DeviceLost", JSON.stringify(error));
  assert.equal(error.isOurs, true);
  assert.match(error.message, pattern);
}

// Far longer than a busy machine keeps a process from its signs of life, of which there are five in this time.
const kLost = { lostAfter: 3000 };

describe("a rank that is", () => {
  for (const isBlocking of [false, true]) {
    const where = isBlocking ? "backward" : "allReduce";
    test(`killed: an error on the others in ${where}`, async () => {
      const ranks = startRanks("sumForever", newGroup(nats.url, 3, kLost), { isBlocking });
      await Promise.all(ranks.map((rank) => rank.told("summing")));
      await ranks[1].kill();
      const pattern = new RegExp(`^\\[${where}\\] (rank \\d has given up: )?rank 1 is lost`);
      await assertLost(ranks[0], pattern);
      await assertLost(ranks[2], pattern);
    });
  }

  test("paused: an error on the others, and on itself when it goes on", async () => {
    const ranks = startRanks("sumForever", newGroup(nats.url, 2, kLost));
    await Promise.all(ranks.map((rank) => rank.told("summing")));
    ranks[1].signal("SIGSTOP");
    await assertLost(ranks[0], /rank 1 is lost: it has given no sign of life; rejoin\(\)/);
    ranks[1].signal("SIGCONT");
    await assertLost(ranks[1], /lost|given up|formed again|interrupted/);
  });

  test("late: an error on all after the time limit", async () => {
    const ranks = startRanks("sumLate", newGroup(nats.url, 2, { timeout: 500 }));
    await assertLost(ranks[0], /^\[allReduce\] allReduce\(\) has waited for 500 ms for rank 1; /);
    await assertLost(
      ranks[1],
      /^\[allReduce\] rank 0 has given up: allReduce\(\) has waited for 500/,
    );
  });

  test("gone on purpose: an error on those who wait for it", async () => {
    const ranks = startRanks("sumAlone", newGroup(nats.url, 2));
    await assertLost(ranks[0], /^\[allReduce\] rank 1 has left the group; /);
    assert.deepEqual(await ranks[1].ended(), { result: null });
  });
});

describe("a server that", () => {
  test("is killed: an error on all ranks", async () => {
    const own = await startNats();
    try {
      const ranks = startRanks("sumForever", newGroup(own.url, 2, kLost));
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
      const ranks = startRanks("sumForever", newGroup(own.url, 2), { isBlocking: true });
      await Promise.all(ranks.map((rank) => rank.told("summing")));
      await own.kill();
      await own.start();
      for (const rank of ranks)
        await assertLost(rank, /the connection to the server was interrupted/);
    } finally {
      await own.close();
    }
  });

  test("refuses a bucket that another process makes at the same time: none, or its error if it goes on", async () => {
    for (const [refusals, end] of [
      [2, "resolved"],
      [9, /subjects overlap/],
    ]) {
      const refusing = await startRefusing(nats.url, refusals);
      try {
        const joining = initProcessGroup(newGroup(refusing.url, 1));
        if (end instanceof RegExp) await assert.rejects(joining, end);
        else await (await joining).destroy();
        assert.equal(refusing.refused(), Math.min(refusals, 5));
      } finally {
        refusing.close();
      }
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

// Side by side, as each waits for time limits of groups that do not come together.
describe("a group", { concurrency: true }, () => {
  // Far longer than a process takes to find the others.
  const kShort = { joinTimeout: 5000 };

  test("that does not come together ends with an error that says who is missing", async () => {
    await assert.rejects(initProcessGroup(newGroup(nats.url, 3, kShort)), {
      code: "InvalidArgument",
      message: /^\[initProcessGroup\] no group after 5000 ms: 1 of 3 processes are there\.$/,
    });
  });

  test("that is whole takes nobody else", async () => {
    const group = newGroup(nats.url, 1);
    const first = await initProcessGroup(group);
    const more = initProcessGroup({ ...group, ...kShort });
    await assert.rejects(more, /the run has its 1 processes already/);
    await first.destroy();
    const second = await initProcessGroup(group);
    assert.deepEqual([second.rank, second.generation], [0, 2]);
    await second.destroy();
  });

  test("has a member that left before another one knew that the group is complete", async () => {
    const group = newGroup(nats.url, 2);
    const wire = await Wire.open(nats.url, `$KV.edgegrad-distributed-${group.run}.group`);
    const first = startRank("sumFirst", { ...group, rank: 0 });
    await wire.next("record with the first one");
    await wire.close();
    first.signal("SIGSTOP");
    const second = startRank("sumFirst", { ...group, rank: 1 });
    assert.deepEqual(await second.ended(), { result: null });
    first.signal("SIGCONT");
    await assertLost(first, /^\[allReduce\] rank 1 has left the group; /);
  });

  test("does not miss who has left, in operations that need nothing of it", async () => {
    const group = newGroup(nats.url, 3, kLost);
    const ranks = startRanks("receiveLate", group);
    // Rank 0 waits for both of the others, and rank 1 for nobody.
    assert.deepEqual(await ranks[1].ended(), { result: [1, 1, 1] });
    const wire = await Wire.open(nats.url, `edgegrad-distributed.${group.run}.alive`);
    // Longer than `lostAfter`: two ranks give five signs of life each in that time.
    await wire.pass(2 * 7);
    await wire.close();
    ranks[2].letGoOn();
    for (const rank of ranks) assert.deepEqual(await rank.ended(), { result: [1, 1, 1] });
  });

  test("waits for more than the fewest, and no longer than lastCall", async () => {
    const options = newGroup(nats.url, 3, { minWorldSize: 2 });
    const join = (count, more) =>
      Promise.all(Array.from({ length: count }, () => initProcessGroup({ ...options, ...more })));
    const groups = await join(3, { lastCall: 600_000 });
    assert.deepEqual(
      groups.map(({ worldSize, generation }) => [worldSize, generation]),
      [1, 2, 3].map(() => [3, 1]),
    );
    assert.deepEqual(groups.map(({ rank }) => rank).sort(), [0, 1, 2]);
    await Promise.all(groups.map((group) => group.destroy()));
    const two = await join(2, { lastCall: 300 });
    assert.deepEqual(
      two.map(({ worldSize }) => worldSize),
      [2, 2],
    );
    await Promise.all(two.map((group) => group.destroy()));
    await assert.rejects(join(1, kShort), /no group after 5000 ms: 1 of 3 processes/);
  });
});

describe("an elastic group", () => {
  test("goes on with a new process in place of a killed one, with the losses of one process", async (t) => {
    const group = newGroup(nats.url, 2, kLost);
    const more = { steps: 40, lr: 0.1 };
    const start = (lastStep) => startRank("trainElastic", group, { ...more, lastStep });
    const [survivor, first] = [start(), start(5)];
    await first.told("step 5");
    await first.kill();
    const second = start(20);
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
    const group = newGroup(nats.url, 3, { ...kLost, minWorldSize: 1, lastCall: 500 });
    const more = { steps: 40, lr: 0.1, sizes: [1, 2, 3, 2] };
    const start = () => startRank("trainElastic", group, more);
    const first = start();
    await first.told("step 5");
    const second = start();
    await second.told("step 10");
    const third = start();
    await Promise.all([first, second, third].map((rank) => rank.told("step 15")));
    await second.kill();
    const [a, b] = await Promise.all([first.result(), third.result()]);
    const alone = await lossesAlone("mlp", { seed: 5, lr: more.lr, steps: more.steps });
    const { losses, sizes, rejoins } = a;
    const changes = sizes.filter((size, i) => size !== sizes[i - 1]);
    assert.deepEqual(changes, more.sizes);
    assert.ok(rejoins >= 3, `${rejoins}`);
    const worst = Math.max(...losses.map((loss, i) => Math.abs(loss - alone[i])));
    t.diagnostic(`at most ${worst} apart, sizes ${changes}`);
    assert.ok(losses.length === more.steps && worst <= 1e-5, `${worst}`);
    assert.equal(b.losses.at(-1), losses.at(-1));
    assert.ok(b.rank < 2);
  });

  test("refuses sizes that do not fit", async () => {
    const refused = (more, message) =>
      assert.rejects(initProcessGroup(newGroup(nats.url, 3, more)), message);
    await refused({ minWorldSize: 4 }, /minWorldSize: expected a whole number of at least 1 and/);
    await refused({ minWorldSize: 0 }, /minWorldSize/);
    await refused({ minWorldSize: 2, rank: 0 }, /rank: cannot be chosen/);
  });
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
