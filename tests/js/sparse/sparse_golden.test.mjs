// Sparse tensors, their ops and the optimizers for them, compared with PyTorch 2.6.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { assertTensor } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const golden = JSON.parse(
  readFileSync(new URL("../../golden/sparse.json", import.meta.url), "utf8"),
);
const kTolerance = { rtol: 1e-12, atol: 1e-12 };
const float64 = (data, options) => eg.tensor(data, { dtype: "float64", ...options });
const { sparse } = eg;

const kCases = {
  mm: (x, d) => sparse.mm(x, d),
  addmm: (x, d) =>
    sparse.addmm(
      float64([
        [1, 1],
        [1, 1],
        [1, 1],
      ]),
      x,
      d,
      { beta: 2, alpha: 3 },
    ),
  mm_sparse: (x) => sparse.mm(x, x.t()),
  sum: (x) => sparse.sum(x),
  sum0: (x) => sparse.sum(x, 0),
  sum1: (x) => sparse.sum(x, 1),
  softmax0: (x) => sparse.softmax(x, 0),
  softmax1: (x) => sparse.softmax(x, 1),
  logSoftmax1: (x) => sparse.logSoftmax(x, 1),
  mul2: (x) => x.mul(2),
  add: (x) => x.add(x),
  sub: (x) => x.sub(x.mul(3)),
  mulSparse: (x) => x.mul(x),
  sin: (x) => x.sin(),
  relu: (x) => x.relu(),
  t: (x) => x.t(),
};

describe("ops on sparse tensors", () => {
  const { indices, values, size, dense } = golden.values;
  for (const [name, expected] of Object.entries(golden.cases)) {
    test(name, () => {
      const v = float64(values, { requiresGrad: true });
      const d = float64(dense, { requiresGrad: true });
      const result = kCases[name](eg.sparseCooTensor(indices, v, size).coalesce(), d).toDense();
      assertTensor(result, [expected.result].flat(3), kTolerance);
      if (expected.values_grad === null) return;
      const weights = eg.arange(1, result.numel + 1, { dtype: "float64" }).view(result.shape);
      result.mul(weights).sum().backward();
      assertTensor(v.grad, expected.values_grad, kTolerance);
      if (expected.dense_grad !== null) {
        assertTensor(d.grad, expected.dense_grad.flat(), kTolerance);
      }
    });
  }
});

describe("optimizers with sparse gradients", () => {
  const { weight, rows } = golden.optimizers_start;
  for (const { optimizer, settings, weight: expected } of golden.optimizers) {
    test(`${optimizer} ${JSON.stringify(settings)}`, () => {
      const w = new eg.nn.Parameter(float64(weight));
      const own = new eg.optim[optimizer]([w], settings);
      const factors = eg.arange(1, 10, { dtype: "float64" }).view(3, 3);
      for (const at of rows) {
        own.zeroGrad();
        const e = eg.nn.functional.embedding(eg.tensor(at, { dtype: "int64" }), w, {
          sparse: true,
        });
        e.mul(e).mul(factors).sum().backward();
        assert.equal(w.grad.layout, "sparse_coo");
        own.step();
      }
      assertTensor(w.detach(), expected.flat(), kTolerance);
    });
  }
});

test("sparse tensors are printed as PyTorch prints them", () => {
  const x = eg.sparseCooTensor(
    [
      [0, 1, 1],
      [2, 0, 2],
    ],
    [3, 4, 5],
    [2, 3],
  );
  const printed = {
    coo: x,
    coalesced: x.coalesce(),
    int: eg.sparseCooTensor(
      [[0, 1]],
      eg.tensor(
        [
          [1, 2],
          [3, 4],
        ],
        { dtype: "int64" },
      ),
      [3, 2],
    ),
    grad: eg.sparseCooTensor([[0, 1]], [1, 2], [3], { requiresGrad: true }),
  };
  for (const [name, tensor] of Object.entries(printed)) {
    assert.equal(String(tensor), golden.printed[name].replace("torch.", ""));
  }
});
