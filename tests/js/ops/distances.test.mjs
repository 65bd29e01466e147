// cdist() by its kernel, compared with the formula that is used for float64.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kShapes = [
  [
    [1, 1],
    [1, 1],
  ],
  [
    [3, 4],
    [2, 4],
  ],
  [
    [30, 7],
    [17, 7],
  ],
  [
    [5, 64],
    [33, 64],
  ],
  [
    [2, 3, 5],
    [4, 5],
  ],
  [
    [2, 1, 3, 5],
    [3, 16, 5],
  ],
  [
    [0, 3],
    [2, 3],
  ],
  [
    [2, 3],
    [0, 3],
  ],
];

function pair(shapes, dtype) {
  eg.manualSeed(5);
  return shapes.map((shape) => eg.randn(shape).mul(2).round().div(2).to(dtype).requiresGrad_());
}

describe("distances between rows", () => {
  for (const p of [1, 2, Number.POSITIVE_INFINITY]) {
    test(`and their gradients, p = ${p}`, () => {
      for (const shapes of kShapes) {
        const [x, y] = pair(shapes, "float32");
        const [x64, y64] = pair(shapes, "float64");
        const distances = eg.cdist(x, y, p);
        const expected = eg.cdist(x64, y64, p);
        const weight = eg.randn(distances.shape);
        const close = { rtol: 1e-4, atol: 1e-4 };
        assertTensor(distances, [...expected.dataSync()], close);
        const found = eg.autograd.grad([distances], [x, y], { gradOutputs: [weight] });
        const gradients = eg.autograd.grad([expected], [x64, y64], {
          gradOutputs: [weight.to("float64")],
        });
        found.forEach((gradient, i) => {
          assertTensor(gradient, [...gradients[i].dataSync()], close);
        });
      }
    });
  }

  test("have second derivatives", () => {
    const second = (dtype) => {
      const [x, y] = pair(
        [
          [4, 3],
          [5, 3],
        ],
        dtype,
      );
      const root = eg.cdist(x, y).pow(3).sum();
      const [first] = eg.autograd.grad([root], [x], { createGraph: true });
      return eg.autograd.grad([first.square().sum()], [x, y]).map((t) => [...t.dataSync()]);
    };
    const expected = second("float64");
    second("float32").forEach((numbers, i) => {
      numbers.forEach((number, k) => {
        assert.ok(Math.abs(number - expected[i][k]) < 1e-2 * (1 + Math.abs(expected[i][k])));
      });
    });
  });

  test("are zero between equal rows, with no gradient, and NaN where one is", () => {
    const x = eg.tensor(
      [
        [1, 2],
        [1, Number.NaN],
      ],
      { requiresGrad: true },
    );
    for (const p of [1, 2, Number.POSITIVE_INFINITY]) {
      const [[same, missing]] = eg.cdist(x, x.detach(), p).tolist();
      assert.deepEqual([same, missing], [0, Number.NaN]);
      const row = x.narrow(0, 0, 1);
      const [gradient] = eg.autograd.grad([eg.cdist(row, row.detach(), p).sum()], [x]);
      assert.deepEqual(gradient.tolist()[0], [0, 0]);
    }
  });
});
