// Caches of transforms: the inverse of the last output is the input itself, while the cache is valid.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const d = eg.distributions;

/** One of each transform with a cache, and an input. */
const kTransforms = {
  ExpTransform: [new d.ExpTransform({ cacheSize: 1 }), [30]],
  SigmoidTransform: [new d.SigmoidTransform({ cacheSize: 1 }), [30]],
  SoftplusTransform: [new d.SoftplusTransform({ cacheSize: 1 }), [-120]],
  TanhTransform: [new d.TanhTransform({ cacheSize: 1 }), [30]],
  AbsTransform: [new d.AbsTransform({ cacheSize: 1 }), [-3]],
  PowerTransform: [new d.PowerTransform(40, { cacheSize: 1 }), [30]],
  AffineTransform: [new d.AffineTransform(1e8, 1e-3, { cacheSize: 1 }), [0.3]],
  CumulativeDistributionTransform: [
    new d.CumulativeDistributionTransform(new d.Normal(0, 1), { cacheSize: 1 }),
    [20],
  ],
  SoftmaxTransform: [new d.SoftmaxTransform({ cacheSize: 1 }), [1, 300]],
  StickBreakingTransform: [new d.StickBreakingTransform({ cacheSize: 1 }), [1, 40]],
  ReshapeTransform: [new d.ReshapeTransform([2], [2, 1], { cacheSize: 1 }), [1, 2]],
  LowerCholeskyTransform: [new d.LowerCholeskyTransform({ cacheSize: 1 }), [[-200]]],
  PositiveDefiniteTransform: [new d.PositiveDefiniteTransform({ cacheSize: 1 }), [[1e-5]]],
  CorrCholeskyTransform: [new d.CorrCholeskyTransform({ cacheSize: 1 }), [30]],
  ComposeTransform: [
    new d.ComposeTransform([new d.AffineTransform(0, 3), new d.TanhTransform()], { cacheSize: 1 }),
    [20],
  ],
  IndependentTransform: [
    new d.IndependentTransform(new d.TanhTransform(), 1, { cacheSize: 1 }),
    [30],
  ],
  CatTransform: [
    new d.CatTransform([new d.TanhTransform(), new d.ExpTransform()], { cacheSize: 1 }),
    [30, 1],
  ],
  StackTransform: [
    new d.StackTransform([new d.TanhTransform(), new d.ExpTransform()], { cacheSize: 1 }),
    [30, 1],
  ],
};

test("every transform of the package is in the table", () => {
  const names = Object.keys(d).filter((name) => /.Transform$/.test(name));
  assert.deepEqual(names.sort(), Object.keys(kTransforms).sort());
});

for (const [name, [transform, data]] of Object.entries(kTransforms)) {
  describe(`${name} with a cache`, () => {
    const x = eg.tensor(data);

    test("returns the same tensors for the same input and output", () => {
      assert.equal(transform.cacheSize, 1);
      const y = transform.call(x);
      assert.equal(transform.inverse(y), x);
      assert.equal(transform.inv.call(y), x);
      assert.equal(transform.inv.inv.call(x), y);
      assert.deepEqual(y.tolist(), transform.withCache(0).call(x).tolist());
    });

    test("recomputes after a tensor has changed or has been disposed", () => {
      const z = eg.tensor(data);
      const y = transform.call(z);
      y.mul_(1);
      assert.notEqual(transform.inverse(y), z);
      const again = transform.call(z);
      z.dispose();
      assert.deepEqual(transform.inverse(again).shape, x.shape);
    });

    test("withCache() returns a transform of the other cache size, or itself", () => {
      assert.equal(transform.withCache(), transform);
      assert.equal(transform.withCache(1), transform);
      const plain = transform.withCache({ cacheSize: 0 });
      assert.deepEqual([plain.cacheSize, plain.constructor], [0, transform.constructor]);
      assert.equal(plain.withCache(1).cacheSize, 1);
    });
  });
}

describe("a transform's cache", () => {
  test("has size 0 or 1", () => {
    for (const cacheSize of [2, -1, true, "1", null]) {
      assertThrows(
        () => new d.TanhTransform({ cacheSize }),
        "InvalidArgument",
        /cacheSize.*0 or 1/,
      );
      assertThrows(() => new d.ExpTransform().withCache(cacheSize), "InvalidArgument", /0 or 1/);
    }
    assertThrows(() => new d.TanhTransform({ cache_size: 1 }), "InvalidArgument", /"cacheSize"/);
    const plain = new d.TanhTransform();
    const x = eg.tensor([0.5]);
    assert.equal(plain.cacheSize, 0);
    assert.notEqual(plain.inverse(plain.call(x)), x);
  });

  test("makes the log probability of a saturated action and its gradient finite", () => {
    const mean = eg.tensor([20, -25, 0.1], { requiresGrad: true });
    const policy = (cacheSize) => {
      const base = new d.Normal(mean, 0.5);
      return new d.TransformedDistribution(base, [new d.TanhTransform({ cacheSize })]);
    };
    const cached = policy(1);
    const action = cached.rsample();
    assert.deepEqual(action.at(eg.slice(0, 2)).tolist(), [1, -1]);
    const logProb = cached.logProb(action);
    assert.ok(logProb.isfinite().all().item());
    logProb.sum().backward();
    assert.ok(mean.grad.isfinite().all().item());
    assert.ok(!policy(0).logProb(action).isfinite().all().item());

    const seen = policy(1);
    const sampled = seen.sample([4]);
    assert.ok(seen.logProb(sampled).isfinite().all().item());
    const scoped = eg.scope(() => seen.rsample([4]));
    assert.ok(
      eg
        .scope(() => seen.logProb(scoped))
        .isfinite()
        .all()
        .item(),
    );
  });

  test("works for Tanh and Affine after Independent, as in SAC", () => {
    const base = new d.Independent(new d.Normal(eg.full([2, 3], 30), 1), 1);
    const transforms = [
      new d.TanhTransform({ cacheSize: 1 }),
      new d.AffineTransform(1, 2, { cacheSize: 1 }),
    ];
    const policy = new d.TransformedDistribution(base, transforms);
    const logProb = policy.logProb(policy.rsample());
    assert.deepEqual(logProb.shape, [2]);
    assert.ok(logProb.isfinite().all().item());
    const composed = new d.ComposeTransform([new d.TanhTransform(), new d.AffineTransform(1, 2)]);
    const same = new d.TransformedDistribution(base, composed.withCache());
    assert.ok(same.logProb(same.rsample()).isfinite().all().item());
  });

  test("never drops a gradient", () => {
    const scale = eg.tensor(2, { requiresGrad: true });
    const affine = new d.AffineTransform(0, scale, { cacheSize: 1 });
    const x = eg.tensor([1, 3]);
    const y = eg.noGrad(() => affine.call(x));
    affine.inverse(y).sum().backward();
    assertTensor(scale.grad, [-2], { shape: [] });
    assert.ok(affine.call(x).requiresGrad);

    const tanh = new d.TanhTransform({ cacheSize: 1 });
    const leaf = tanh.call(eg.tensor([0.5])).requiresGrad_();
    tanh.inverse(leaf).backward();
    assert.ok(Math.abs(leaf.grad.item() - 1 / (1 - Math.tanh(0.5) ** 2)) < 1e-5);

    const made = eg.tensor([0.5]);
    const result = tanh.call(made);
    made.requiresGrad_();
    assert.ok(tanh.call(made).requiresGrad);
    assert.ok(!result.requiresGrad);
  });

  test("notices that a parameter has changed", () => {
    const scale = eg.tensor(2);
    const affine = new d.AffineTransform(0, scale, { cacheSize: 1 });
    const x = eg.tensor([3]);
    const y = affine.call(x);
    scale.fill_(3);
    assertTensor(affine.call(x), [9]);
    assertTensor(affine.inverse(y), [2]);
  });

  test("frees its tensors with their scope", () => {
    const tanh = new d.TanhTransform({ cacheSize: 1 });
    const before = eg.memory().jsHandles;
    for (let i = 0; i < 10; i++) {
      eg.scope(() => {
        const policy = new d.TransformedDistribution(new d.Normal(0, 1), tanh);
        policy.logProb(policy.rsample([3]));
      });
    }
    assert.equal(eg.memory().jsHandles, before);
    const z = eg.scope(() => {
      const composed = new d.ComposeTransform([tanh.inv, tanh], { cacheSize: 1 });
      return composed.call(tanh.call(eg.tensor([0.5])));
    });
    z.dispose();
  });
});
