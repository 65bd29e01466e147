// What edgegrad/distributed checks without a server.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as distributed from "edgegrad/distributed";
import { eg } from "../support/engine.mjs";

const { allReduce, DistributedDataParallel, DistributedSampler, initProcessGroup } = distributed;
const kOptions = { servers: "nats://127.0.0.1:1", worldSize: 2 };

describe("initProcessGroup refuses", () => {
  const kCases = {
    "no options": [undefined, /options: expected an object, got undefined/],
    "options that do not exist": [{ ...kOptions, world_size: 2 }, /Write worldSize\./],
    "no servers": [{ worldSize: 2 }, /servers: expected an address/],
    "a world of nobody": [
      { ...kOptions, worldSize: 0 },
      /worldSize: expected a whole number of at least 1/,
    ],
    "a world of halves": [{ ...kOptions, worldSize: 1.5 }, /worldSize: expected a whole number/],
    "a rank beyond the world": [
      { ...kOptions, rank: 2 },
      /rank: expected a whole number .* below 2, got 2/,
    ],
    "null as a rank": [{ ...kOptions, rank: null }, /rank: expected a whole number/],
    "a run that is no part of a subject": [
      { ...kOptions, run: "a.b" },
      /run: expected 1 to 64 letters/,
    ],
    "times that timers cannot wait": [{ ...kOptions, timeout: 2 ** 31 }, /timeout: expected/],
    "credentials that do not exist": [
      { ...kOptions, credentials: { pass: "x" } },
      /no option "pass"/,
    ],
  };
  for (const [name, [options, message]] of Object.entries(kCases)) {
    test(name, async () => {
      const given = await initProcessGroup(options).catch((error) => error);
      assert.ok(given instanceof eg.EdgeGradError);
      assert.equal(given.code, "InvalidArgument");
      assert.match(given.message, /^\[initProcessGroup\] /);
      assert.match(given.message, message);
    });
  }
});

test("without a group, functions say so", async () => {
  const expected = { code: "InvalidArgument", message: /there is no group; call initProcessGroup/ };
  await assert.rejects(allReduce(eg.ones([2])), expected);
  await assert.rejects(distributed.barrier(), expected);
  assert.throws(() => new DistributedDataParallel(new eg.nn.Linear(1, 1)), expected);
  assert.throws(() => new DistributedSampler({ length: 3 }), expected);
});

test("arguments are checked before anything is sent", async () => {
  await assert.rejects(allReduce([1]), /^EdgeGradError: \[allReduce\] tensor: expected a Tensor/);
  await assert.rejects(allReduce(eg.ones([1]), { op: "avg" }), /op: expected one of sum, mean/);
  await assert.rejects(
    allReduce(eg.ones([1]), { group: {} }),
    /group: expected what initProcessGroup/,
  );
  assert.throws(() => new distributed.ProcessGroup(), /\[ProcessGroup\] call initProcessGroup\(\)/);
  assert.throws(() => new DistributedDataParallel({}), /module: expected an nn.Module/);
});

describe("DistributedSampler", () => {
  const samplesOf = (length, options) =>
    Array.from({ length: options.numReplicas }, (_, rank) => [
      ...new DistributedSampler({ length }, { ...options, rank }),
    ]);

  test("has PyTorch's orders", () => {
    // torch.utils.data.DistributedSampler(range(10), 3, rank, seed=4) after set_epoch(2)
    const samplers = [0, 1, 2].map(
      (rank) => new DistributedSampler({ length: 10 }, { numReplicas: 3, rank, seed: 4 }),
    );
    for (const sampler of samplers) sampler.setEpoch(2);
    assert.deepEqual(
      samplers.map((sampler) => [...sampler]),
      [
        [0, 1, 9, 6],
        [7, 8, 2, 0],
        [5, 3, 4, 7],
      ],
    );
  });

  test("gives each rank as many, and uses the first ones twice", () => {
    const options = { numReplicas: 3, shuffle: false };
    assert.deepEqual(samplesOf(7, options), [
      [0, 3, 6],
      [1, 4, 0],
      [2, 5, 1],
    ]);
    assert.deepEqual(samplesOf(1, options), [[0], [0], [0]]);
  });

  test("leaves out the last ones with dropLast", () => {
    const options = { numReplicas: 3, shuffle: false, dropLast: true };
    assert.deepEqual(samplesOf(8, options), [
      [0, 3],
      [1, 4],
      [2, 5],
    ]);
  });

  test("is a sampler of a DataLoader", async () => {
    const dataset = new eg.data.TensorDataset(eg.arange(6, { dtype: "float32" }));
    const sampler = new DistributedSampler(dataset, { numReplicas: 2, rank: 1, shuffle: false });
    const loader = new eg.data.DataLoader(dataset, { sampler, batchSize: 2 });
    const batches = [];
    for await (const [batch] of loader) batches.push(batch.arraySync());
    assert.deepEqual(batches, [[1, 3], [5]]);
  });

  test("refuses what it cannot share", () => {
    const make = (length, options) => () => new DistributedSampler({ length }, options);
    const options = { numReplicas: 2, rank: 0 };
    assert.throws(make(0, options), /\[DistributedSampler\] the length of dataset: expected/);
    assert.throws(make(3, { ...options, rank: 2 }), /rank: expected a whole number/);
    assert.throws(make(3, { ...options, shuffle: 1 }), /shuffle: expected true or false, got 1/);
    assert.throws(make(3, { ...options, drop_last: true }), /Write dropLast\./);
    const sampler = new DistributedSampler({ length: 3 }, options);
    assert.throws(() => sampler.setEpoch(-1), /\[setEpoch\] epoch: expected a whole number/);
  });
});
