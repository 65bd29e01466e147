// Tensors without elements can have more rows than any loop ends with.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eg } from "./support/engine.mjs";

const kMany = 2 ** 40;

for (const [name, call, shape] of [
  ["softmax", () => eg.zeros([kMany, 0]).softmax(1), [kMany, 0]],
  ["logSoftmax", () => eg.zeros([kMany, 0]).logSoftmax(1), [kMany, 0]],
  ["indexSelect", () => eg.zeros([kMany, 3, 0]).indexSelect(1, eg.tensor([0n])), [kMany, 1, 0]],
  [
    "indexAdd",
    () => eg.zeros([kMany, 3, 0]).indexAdd(1, eg.tensor([0n]), eg.zeros([kMany, 1, 0])),
    [kMany, 3, 0],
  ],
  [
    "indexCopy",
    () => eg.zeros([kMany, 3, 0]).indexCopy(1, eg.tensor([0n]), eg.zeros([kMany, 1, 0])),
    [kMany, 3, 0],
  ],
  ["cumsum", () => eg.zeros([kMany, 0]).cumsum(1), [kMany, 0]],
]) {
  test(`${name} of many empty rows ends at once`, () => assert.deepEqual(call().shape, shape));
}
