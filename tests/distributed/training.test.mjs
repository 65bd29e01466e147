// Data-parallel training by several processes, against one process with the whole batch.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as eg from "edgegrad";
import { DistributedSampler } from "edgegrad/distributed";
import { startNats } from "../../examples/support/nats_server.mjs";
import { newGroup, runGroup } from "./support/ranks.mjs";
import { kSteps, lossesAlone } from "./support/task.mjs";

let nats;
before(async () => {
  await eg.init({ threads: 1 });
  nats = await startNats();
});
after(() => nats.close());

describe("DistributedDataParallel", () => {
  const kCases = [
    { worldSize: 2, kind: "mlp" },
    { worldSize: 3, kind: "mlp", bucketCapMb: 1e-4 },
    { worldSize: 2, kind: "cnn", isAsync: true },
    { worldSize: 3, kind: "cnn", isAsync: true, bucketCapMb: 1e-4 },
  ];
  for (const { worldSize, ...options } of kCases) {
    const how = `${options.isAsync ? "backwardAsync" : "backward"}, ${options.bucketCapMb ? "a bucket per parameter" : "one bucket"}`;
    test(`a ${options.kind} on ${worldSize} ranks (${how}) has the losses of one process`, async (t) => {
      const lr = 0.2;
      const alone = await lossesAlone(options.kind, { seed: 5, lr });
      const group = newGroup(nats.url, worldSize);
      const results = await runGroup("train", group, { ...options, lr });
      let worst = 0;
      for (const { losses } of results) {
        for (const [i, loss] of losses.entries())
          worst = Math.max(worst, Math.abs(loss - alone[i]));
      }
      t.diagnostic(
        `at most ${worst} apart; ${results[0].bytesSent / kSteps} bytes per step and rank`,
      );
      assert.ok(worst <= 1e-5, `${worst}`);
      const digests = new Set(results.map(({ digest }) => digest));
      assert.equal(digests.size, 1, "the weights have the same bits on all ranks");
    });
  }

  test("noSync() adds up, and gradients that only some ranks have are averaged with zeros", async () => {
    const [first, second] = await runGroup("accumulate", newGroup(nats.url, 2));
    assert.deepEqual(first.gradients, second.gradients);
    assert.notDeepEqual(first.before, second.before);
    // Rank 0 has called `second` within noSync() only, rank 1 never.
    assert.deepEqual(first.gradients["second.bias"], [0.5, 0.5]);
    assert.equal(first.gradients["never.weight"], null);
    // noSync() on rank 1 and the calls after it on both add 1 to the bias; on rank 0 it goes through `second`.
    const [a, b] = first.before;
    assert.deepEqual(first.gradients["first.bias"].map(Math.fround), [
      Math.fround((Math.fround(a + 1) + 2) / 2),
      Math.fround((Math.fround(b + 1) + 2) / 2),
    ]);
  });

  test("buffers are those of rank 0", async () => {
    const [first, second] = await runGroup("normalize", newGroup(nats.url, 2));
    assert.deepEqual(first, second);
  });

  test("a backward call that fails after a part was sent ends the group on all ranks", async () => {
    const group = newGroup(nats.url, 2);
    await assert.rejects(
      runGroup("failInBackward", group),
      /^Error: \[backward\] rank 0 has given up: a backward call has failed after a part/,
    );
  });
});

test("DistributedSampler shares the indices of a permutation among the ranks", async () => {
  const results = await runGroup("sample", newGroup(nats.url, 2));
  const order = [...new DistributedSampler({ length: 11 }, { numReplicas: 1, rank: 0, seed: 1 })];
  for (const { rank, indices, length } of results) {
    assert.equal(length, 6);
    assert.deepEqual(
      indices,
      Array.from({ length: 6 }, (_, i) => order[(2 * i + rank) % 11]),
    );
  }
});
