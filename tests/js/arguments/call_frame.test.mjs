// The frame that carries arguments and results across the border has room for whatever is passed.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kLong = [257, 300, 5000, 200_000];
const engineWorks = () => assert.equal(eg.tensor([1, 2, 3]).mul(2).sum().item(), 12);

describe("lists longer than the call frame", () => {
  for (const [name, call] of [
    ["ints", (list) => eg.ones([3]).reshape(list)],
    ["ints that may be left out", (list) => eg.ones([3]).sum(list)],
    ["ints by name", (list) => eg.maxPool2d(eg.ones([1, 1, 4, 4]), 2, { stride: list })],
    ["numbers", (list) => eg.interpolate(eg.ones([1, 1, 4]), null, list)],
    ["padding", (list) => eg.conv2d(eg.ones([1, 1, 4, 4]), eg.ones([1, 1, 2, 2]), null, 1, list)],
    ["two lists", (list) => eg.roll(eg.ones([3]), list, list)],
  ]) {
    test(`${name} are refused`, () => {
      for (const length of kLong) {
        assert.throws(() => call(Array(length).fill(1)), eg.EdgeGradError);
        engineWorks();
      }
    });
  }

  test("many tensors are taken and given back", () => {
    const rows = eg.arange(600).reshape([300, 2]).unbind(0);
    assert.equal(rows.length, 300);
    assert.deepEqual(rows[299].arraySync(), [598, 599]);
    assert.deepEqual(eg.stack(rows).sum(0).arraySync(), [89700, 90000]);
    engineWorks();
  });
});

test("holes in a list are refused, not taken for zeros", () => {
  // biome-ignore lint/suspicious/noSparseArray: what is tested.
  const list = [2, , 3];
  assertThrows(() => eg.ones(list), "InvalidArgument", /^\[ones\] size: expected a whole number/);
  assertThrows(() => eg.ones(Array(3)), "InvalidArgument");
  // biome-ignore lint/suspicious/noSparseArray: what is tested.
  assertThrows(() => eg.cat([eg.ones([1]), ,]), "InvalidArgument", /^\[cat\] tensors/);
});
