// The order of a module's functions in the published file: similar functions are adjacent, which compresses better.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { compressibleOrder, withOrderAsNames } from "../../../scripts/building/function_order.mjs";
import { ModuleReader } from "../../../scripts/building/wasm_module.mjs";
import { kRoot } from "../support/files.mjs";

const kPublished = readFileSync(`${kRoot}dist/wasm/edgegrad-simd.wasm`);

/** Returns a module whose functions have these bytes, which need not be valid code. */
function moduleOf(bodies) {
  const content = [bodies.length, ...bodies.flatMap((body) => [body.length, ...body])];
  const length = [(content.length % 128) + 128, content.length >> 7];
  return Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 10, ...length, ...content]);
}

test("each function follows those it shares most with", () => {
  const a = [...randomBytes(100)];
  const b = [...randomBytes(100)];
  const likeA = [...a.slice(0, 80), ...randomBytes(20)];
  const likeB = [...b.slice(20), ...randomBytes(20)];
  assert.deepEqual(compressibleOrder(moduleOf([a, b, likeB, likeA])), [0, 3, 1, 2]);
});

test("functions that are too short to share anything, or none, have an order too", () => {
  assert.deepEqual(compressibleOrder(moduleOf([[1], [2], []])), [0, 1, 2]);
  assert.deepEqual(compressibleOrder(moduleOf([])), []);
});

test("names put a module's functions in that order, behind what it imports", () => {
  const { functions, importedFunctions } = new ModuleReader(kPublished);
  const order = functions.map((_, index) => functions.length - 1 - index);
  const read = new ModuleReader(withOrderAsNames(kPublished, order));
  assert.ok(importedFunctions > 0);
  assert.equal(read.functions[0].name, `f${String(functions.length - 1).padStart(6, "0")}`);
  assert.equal(read.functions.at(-1).name, "f000000");
});

test("the published module compresses better than with its functions in another order", () => {
  const { functions } = new ModuleReader(kPublished);
  const size = (list) => gzipSync(Buffer.concat(list.map(({ code }) => code))).length;
  const bySize = functions.toSorted((a, b) => a.code.length - b.code.length);
  assert.ok(size(functions) < 0.97 * size(bySize), `${size(functions)} of ${size(bySize)} bytes`);
});

test("the order is of every function once, and the same every time", () => {
  const order = compressibleOrder(kPublished);
  const all = new ModuleReader(kPublished).functions.keys();
  assert.deepEqual(
    [...order].sort((a, b) => a - b),
    [...all],
  );
  assert.deepEqual(compressibleOrder(kPublished), order);
});
