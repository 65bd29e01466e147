// Tiles of matrix products on GPUs: the shapes of every class of adapters, in every layout.

import assert from "node:assert/strict";
import { test } from "node:test";
import { lineOf } from "../bench/card/tune.mjs";
import { options, playing, posing, webgpu } from "./support/playing.mjs";
import { checkProduct as check } from "./support/products.mjs";

const { kTileClasses, kTileShapes, tileClassOf, linesOf } = webgpu;

const kLayouts = ["NN", "NT", "TN", "TT"];

/** Returns a player for an adapter that has only this shape. */
function playingWith(shape) {
  const vendor = JSON.stringify(shape);
  kTileClasses[vendor] = { shapes: [shape], busy: 4 };
  return playing(posing(vendor));
}

// The smallest shape is tested in every layout; of the others, whose shaders take seconds to compile here, those with the most
// different forms of operands.
const layoutsOf = (name) => (name === "k32" ? kLayouts : ["NT"]);

for (const [name, shape] of Object.entries(kTileShapes)) {
  const { a, b } = linesOf(shape);

  test(`${name}: edges inside a tile and inside a vector`, options, async () => {
    const p = playingWith(shape);
    for (const layout of layoutsOf(name))
      await check(p, { m: a + 1, n: b - 3, k: 19, layout, batch: 4 });
    for (const layout of [...layoutsOf(name), "TN"])
      await check(p, { m: a + 4, n: 2 * b - 4, k: 20, layout, lead: 4, batch: 2 });
  });
}

test("sums that are split among workgroups, in any layout", options, async () => {
  const p = playingWith(kTileShapes.k32);
  for (const layout of kLayouts) {
    await check(p, { m: 40, n: 36, k: 1028, layout, beta: 0.5 });
    await check(p, { m: 33, n: 41, k: 1031, layout });
  }
});

for (const vendor of Object.keys(kTileClasses)) {
  test(`${vendor}: large and small results`, options, async () => {
    const p = playing(posing(vendor));
    for (const [m, n] of [
      [300, 520],
      [90, 100],
      [10, 20],
    ])
      await check(p, { m, n, k: 24, layout: "NT" });
  });
}

test("every shape reads its tiles in whole rounds and fits into the smallest workgroups that WebGPU promises", () => {
  for (const [name, shape] of Object.entries(kTileShapes)) {
    const threads = shape.across * shape.down;
    const { a, b } = linesOf(shape);
    assert.ok(threads <= 256, name);
    for (const lines of [a, b]) assert.equal((lines * shape.steps) % (4 * threads), 0, name);
    assert.ok(2 * 4 * (a + b) * shape.steps <= 16384, name);
    assert.ok(shape.across >= 8 && shape.down >= 8 && [8, 16].includes(shape.steps), name);
  }
});

test("the class of an adapter is that of its architecture, of its vendor, or the default", () => {
  assert.equal(tileClassOf({ vendor: "nvidia", architecture: "ampere" }), kTileClasses.nvidia);
  assert.equal(tileClassOf({ vendor: "somebody", architecture: "new" }), kTileClasses.default);
  assert.equal(tileClassOf({ vendor: "constructor" }), kTileClasses.default);
  assert.equal(tileClassOf(undefined), kTileClasses.default);
});

test("the tuner proposes the shapes that are the best for some size, and when a large tile has enough workgroups", () => {
  const rates = { k32: [5, 6, 6], k64: [4, 6, 7], k64Wide: [4, 9, 11], k128: [1, 5, 12] };
  assert.deepEqual(lineOf([128, 512, 2048], rates), {
    shapes: ["k128", "k64Wide", "k32"],
    busy: 256,
  });
  assert.deepEqual(lineOf([128], { k32: [3], k128: [4] }), { shapes: ["k128"], busy: 1 });
});
