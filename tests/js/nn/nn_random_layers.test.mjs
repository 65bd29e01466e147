// Layers that draw numbers in training draw the same ones as PyTorch.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kCases = JSON.parse(
  readFileSync(new URL("../../golden/random_layers.json", import.meta.url), "utf8"),
);

describe("random layers", () => {
  for (const { layer, args, shape, text, training, evaluation } of kCases) {
    test(layer, () => {
      const count = shape.reduce((product, size) => product * size, 1);
      const input = eg.tensor(Float32Array.from({ length: count }, (_, i) => Math.sin(i * 0.7)));
      const module = new eg.nn[layer](...args);
      assert.equal(String(module), text);
      eg.manualSeed(3);
      assertTensor(module.call(input.reshape(shape)), training, { rtol: 1e-5, atol: 1e-6 });
      module.eval();
      assertTensor(module.call(input.reshape(shape)), evaluation, { rtol: 1e-5, atol: 1e-6 });
      const inPlace = new eg.nn[layer](...args, ...(layer === "RReLU" ? [1 / 8, 1 / 3] : []), true);
      const target = input.reshape(shape).clone();
      eg.manualSeed(3);
      assert.equal(inPlace.call(target), target);
      assertTensor(target, training, { rtol: 1e-5, atol: 1e-6 });
      const name = new RegExp(`\\[${layer}\\]`);
      assertThrows(() => new eg.nn[layer]({ quux: 1 }), "InvalidArgument", name);
    });
  }
});
