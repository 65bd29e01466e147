// Training produces the same weights bit for bit for any number of threads, in builds with and without threads.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runNode } from "../support/child.mjs";

const kProgram = fileURLToPath(new URL("../support/train_and_hash.mjs", import.meta.url));
const hasRelaxedSimd = Number.parseInt(process.versions.node, 10) >= 22;

async function hashesOf(variant, threads) {
  const { status, stdout, stderr } = await runNode([kProgram, variant, `${threads}`]);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

describe("weights after some steps of training", () => {
  test("are the same for any number of threads, and without threads", async () => {
    const expected = await hashesOf("simd", 1);
    assert.equal(new Set(Object.values(expected)).size, 4);
    assert.deepEqual(await hashesOf("simd", 2), expected);
    assert.deepEqual(await hashesOf("simd", 5), expected);
    assert.deepEqual(await hashesOf("single", 1), expected);
  });

  const options = { skip: !hasRelaxedSimd && "this Node has no relaxed SIMD" };
  test("are the same for any number of threads with relaxed SIMD", options, async () => {
    const expected = await hashesOf("relaxed", 1);
    assert.deepEqual(await hashesOf("relaxed", 2), expected);
    assert.deepEqual(await hashesOf("relaxed", 3), expected);
  });
});
