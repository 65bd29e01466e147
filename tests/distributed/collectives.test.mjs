// Collective operations of several processes, with a real server between them.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as eg from "edgegrad";
import { startNats } from "../../examples/support/nats_server.mjs";
import { newGroup, runGroup, startRanks } from "./support/ranks.mjs";
import { digestOf, numbersOf, tensorOf } from "./support/scenarios.mjs";

let nats;
before(async () => {
  await eg.init();
  nats = await startNats();
});
after(() => nats.close());

const kReduce = {
  sum: (a, b) => a.add(b),
  mean: (a, b) => a.add(b),
  max: (a, b) => (a.dtype === "bool" ? a.logicalOr(b) : eg.maximum(a, b)),
  min: (a, b) => (a.dtype === "bool" ? a.logicalAnd(b) : eg.minimum(a, b)),
  product: (a, b) => a.mul(b),
};

/** What an operation makes of the tensors of all ranks, taken in their order, on one rank. */
function expectedOf(worldSize, rank, form) {
  const { call, op = "sum", src } = form;
  const parts = Array.from({ length: worldSize }, (_, i) => tensorOf(i, form));
  if (call === "allGather") return parts;
  if (call === "broadcast") return [parts[src]];
  const isHalf = form.dtype.endsWith("float16");
  const sum = parts.map((part) => (isHalf ? part.float() : part)).reduce(kReduce[op]);
  const mean = (total) => {
    if (!form.dtype.startsWith("complex")) return total.div(worldSize);
    return eg.viewAsComplex(eg.viewAsReal(total).div(worldSize));
  };
  const all = (op === "mean" ? mean(sum) : sum).to(form.dtype);
  return [call === "allReduce" ? all : all.chunk(worldSize)[rank]];
}

async function check(worldSize, forms) {
  const results = await runGroup("calls", newGroup(nats.url, worldSize), { forms });
  for (const [rank, ofRank] of results.entries()) {
    for (const [i, form] of forms.entries()) {
      const expected = expectedOf(worldSize, rank, form).map((tensor) => {
        const { dtype, shape } = tensor;
        // As they come through JSON, which has null for NaN.
        const values = numbersOf(tensor).map((value) => (Number.isNaN(value) ? null : value));
        return form.isDigest ? digestOf(tensor) : { dtype, shape, values };
      });
      assert.deepEqual(ofRank[i], expected, `rank ${rank}: ${JSON.stringify(form)}`);
    }
  }
}

const kForms = [
  ["sum", "float32", [5, 3]],
  ["sum", "float64", [7]],
  ["mean", "float32", [2, 2]],
  ["max", "float32", [11]],
  ["max", "int32", [9]],
  ["min", "int64", [4]],
  ["sum", "uint8", [6]],
  ["product", "float32", []],
  ["sum", "complex64", [3]],
  ["mean", "complex128", [2]],
  ["max", "bool", [6]],
  ["min", "bool", [6]],
  ["sum", "float16", [5]],
  ["mean", "bfloat16", [5]],
  ["sum", "float32", [0, 3]],
].map(([op, dtype, shape]) => ({ op, dtype, shape }));

describe("operations on", () => {
  for (const worldSize of [1, 2, 3]) {
    test(`${worldSize} ranks are those of their tensors in the order of the ranks, to the bit`, async () => {
      const large = { dtype: "float32", shape: [400_000], isDigest: true };
      await check(worldSize, [
        ...kForms.map((form) => ({ call: "allReduce", ...form })),
        { call: "allReduce", op: "sum", ...large },
        { call: "allReduce", op: "sum", ...large, dtype: "float64" },
        { call: "reduceScatter", op: "sum", ...large, shape: [6, 70_001] },
        { call: "reduceScatter", op: "mean", dtype: "float64", shape: [6, 2] },
        ...["max", "min"].map((op) => {
          return { call: "allReduce", op, dtype: "float64", shape: [5], hasNan: true };
        }),
        ...["float32", "bool", "bfloat16", "complex64", "int64"].flatMap((dtype) => [
          { call: "allGather", dtype, shape: [2, 3] },
          { call: "broadcast", src: worldSize - 1, dtype, shape: [2, 3] },
        ]),
        { call: "allGather", ...large },
        { call: "broadcast", src: 0, ...large },
      ]);
    });
  }

  test("several tensors at once do not get into each other's way", async () => {
    const results = await runGroup("together", newGroup(nats.url, 3));
    for (const result of results) assert.deepEqual(result, Array(3).fill([6, 6]));
  });

  test("values other than tensors", async () => {
    const results = await runGroup("sendObject", newGroup(nats.url, 2), { src: 1 });
    const expected = { rank: 1, list: [1, "two", null], values: [1, 0.5] };
    assert.deepEqual(results, [expected, expected]);
  });
});

test("nobody passes a barrier before the last one has come to it", async () => {
  const ranks = startRanks("meet", newGroup(nats.url, 3));
  const [first, second, last] = ranks;
  await Promise.all([first, second].map((rank) => rank.told("waiting")));
  last.letGoOn();
  const results = await Promise.all(ranks.map((rank) => rank.result()));
  const { came } = results[2];
  for (const { passed } of results)
    assert.ok(BigInt(passed) >= BigInt(came), `${passed} < ${came}`);
});

describe("ranks that do different things", () => {
  const kCases = {
    "other lengths": [{ shape: [4] }, { shape: [5] }],
    "other dtypes": [{ dtype: "float32" }, { dtype: "float64" }],
    "other reductions": [{ op: "sum" }, { op: "max" }],
    "other operations": [{ call: "allReduce" }, { call: "allGather" }],
  };
  const kUsual = { op: "sum", dtype: "float32", shape: [4] };
  async function assertEnds(group, forms, pattern) {
    const ranks = startRanks("mismatch", group, { forms });
    for (const rank of ranks) await assert.rejects(rank.result(), pattern);
  }

  for (const [name, forms] of Object.entries(kCases)) {
    test(`${name}: an error on both`, async () => {
      const given = forms.map((form) => ({ ...kUsual, call: "allReduce", ...form }));
      const pattern =
        /^Error: \[\w+\] (rank \d has given up: )?rank \d calls .* where this rank calls/;
      await assertEnds(newGroup(nats.url, 2), given, pattern);
    });
  }

  test("other sources: an error on both after the time limit, as each waits for the other", async () => {
    const given = [0, 1].map((src) => ({ ...kUsual, call: "broadcast", src }));
    const pattern = /^Error: \[broadcast\] (rank \d has given up: )?broadcast\(\) has waited for/;
    await assertEnds(newGroup(nats.url, 2, { timeout: 500 }), given, pattern);
  });
});
