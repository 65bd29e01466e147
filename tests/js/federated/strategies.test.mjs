// Strategies alone: numbers from plain loops or from eg.optim as the reference.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as eg from "edgegrad";
import {
  DiLoCo,
  FedAdam,
  FedAvg,
  FedProx,
  FedYogi,
  Krum,
  Median,
  Strategy,
  TrimmedMean,
} from "edgegrad/federated";

await eg.init();

const state = (values, count = 7n) => ({
  weight: eg.tensor(values),
  steps: eg.tensor(BigInt64Array.of(count), { shape: [] }),
});
const update = (client, values, samples = 1, count) => ({
  client,
  samples,
  weights: state(values, count),
});
const weightOf = ({ weight }) => Array.from(weight.dataSync());

function closeTo(actual, expected, tolerance = 1e-6) {
  assert.equal(actual.length, expected.length);
  for (const [i, value] of actual.entries()) {
    assert.ok(Math.abs(value - expected[i]) <= tolerance, `${actual} is not ${expected}`);
  }
}

describe("FedAvg", () => {
  test("weighs updates by samples, and rounds integers", () => {
    const updates = [update("a", [1, 2], 1, 10n), update("b", [4, 8], 3, 13n)];
    const next = new FedAvg().aggregate(state([0, 0]), updates);
    closeTo(weightOf(next), [3.25, 6.5]);
    assert.equal(next.steps.item(), 12);
    assert.equal(next.steps.dtype, "int64");
  });

  test("keeps half precision, and sums in float32", () => {
    const half = (value) => ({ weight: eg.full([1], value, { dtype: "float16" }) });
    const updates = Array.from({ length: 4096 }, (_, i) => ({
      client: `${i}`,
      samples: 1,
      weights: half(1 + (i % 2)),
    }));
    const { weight } = new FedAvg().aggregate(half(0), updates);
    assert.equal(weight.dtype, "float16");
    closeTo(Array.from(weight.float().dataSync()), [1.5], 1e-3);
  });
});

describe("DiLoCo", () => {
  for (const nesterov of [true, false]) {
    test(`takes the steps of optim.SGD${nesterov ? " with Nesterov's momentum" : ""}`, () => {
      const strategy = new DiLoCo({ lr: 0.7, momentum: 0.9, nesterov });
      const reference = eg.tensor([1, -2, 3]).requiresGrad_();
      const optimizer = new eg.optim.SGD([reference], { lr: 0.7, momentum: 0.9, nesterov });
      let global = { weight: eg.tensor([1, -2, 3]) };
      for (let round = 1; round <= 5; round++) {
        const found = { weight: eg.randn([3]) };
        const other = { weight: eg.randn([3]) };
        const mean = found.weight.mul(0.25).add(other.weight.mul(0.75));
        reference.grad = reference.detach().sub(mean);
        optimizer.step();
        const updates = [
          { client: "a", samples: 1, weights: found },
          { client: "b", samples: 3, weights: other },
        ];
        global = strategy.aggregate(global, updates, round);
        closeTo(weightOf(global), Array.from(reference.detach().dataSync()), 1e-5);
      }
    });
  }

  test("with lr 1 and no momentum is FedAvg", () => {
    const updates = [update("a", [1, 5]), update("b", [3, 9])];
    const next = new DiLoCo({ lr: 1, momentum: 0 }).aggregate(state([2, 2]), updates);
    closeTo(weightOf(next), [2, 7]);
  });
});

describe("adaptive strategies", () => {
  const kOptions = { lr: 0.3, beta1: 0.8, beta2: 0.9, tau: 0.01 };
  const kSquares = {
    FedAdam: (v, d) => 0.9 * v + 0.1 * d * d,
    FedYogi: (v, d) => v - 0.1 * d * d * Math.sign(v - d * d),
  };
  for (const Adaptive of [FedAdam, FedYogi]) {
    test(`${Adaptive.name} equals its formulas`, () => {
      const strategy = new Adaptive(kOptions);
      let [weight, m, v] = [0.5, 0, 0.01 ** 2];
      let global = state([0.5]);
      for (const [round, mean] of [1, -1, 0.2, 0.7].entries()) {
        const step = mean - weight;
        m = 0.8 * m + 0.2 * step;
        v = kSquares[Adaptive.name](v, step);
        weight += (0.3 * m) / (Math.sqrt(v) + 0.01);
        global = strategy.aggregate(global, [update("a", [mean])], round);
        closeTo(weightOf(global), [weight], 1e-5);
      }
    });
  }
});

test("what a strategy remembers survives stateDict(), eg.io and loadStateDict()", () => {
  for (const make of [() => new DiLoCo(), () => new FedAdam(), () => new FedYogi()]) {
    const [first, second] = [make(), make()];
    const global = first.aggregate(state([1, 2]), [update("a", [3, 3])], 1);
    second.loadStateDict(eg.io.load(eg.io.save(first.stateDict())));
    const updates = [update("a", [5, 0])];
    assert.deepEqual(
      weightOf(second.aggregate(global, updates, 2)),
      weightOf(first.aggregate(global, updates, 2)),
    );
    first.loadStateDict(make().stateDict());
    const anew = make().aggregate(global, updates, 1);
    assert.deepEqual(weightOf(first.aggregate(global, updates, 1)), weightOf(anew));
  }
});

describe("robust strategies", () => {
  const honest = [update("a", [1, 10]), update("b", [2, 11]), update("c", [3, 12])];
  const hostile = [update("x", [1e6, -1e6], 1e9), update("y", [1e6, -1e6], 1e9)];

  test("Median is the middle, and the mean of the two in the middle", () => {
    const median = new Median();
    closeTo(weightOf(median.aggregate(state([0, 0]), honest)), [2, 11]);
    closeTo(weightOf(median.aggregate(state([0, 0]), honest.slice(0, 2))), [1.5, 10.5]);
    closeTo(weightOf(median.aggregate(state([0, 0]), [...honest, ...hostile])), [3, 10]);
  });

  test("TrimmedMean leaves out both ends", () => {
    const updates = [0, 1, 2, 3, 100].map((value, i) => update(`${i}`, [value, -value]));
    const trimmed = new TrimmedMean({ share: 0.2 }).aggregate(state([0, 0]), updates);
    closeTo(weightOf(trimmed), [2, -2]);
    const mean = new TrimmedMean({ share: 0.1 }).aggregate(state([0, 0]), updates);
    closeTo(weightOf(mean), [21.2, -21.2], 1e-4);
  });

  test("Krum chooses the update with the nearest neighbors, whatever it says of samples", () => {
    const krum = new Krum({ byzantine: 2 });
    assert.equal(krum.fewestUpdates, 7);
    const others = [update("d", [2, 11.5]), update("e", [2.7, 11])];
    const updates = [...honest, ...others, ...hostile];
    // The sums of squared distances to the three nearest: d 0.25 + 0.74 + 1.25, e 2.32, b 2.74, and more for the rest.
    closeTo(weightOf(krum.aggregate(state([0, 0]), updates)), [2, 11.5]);
    const best = new Krum({ byzantine: 2, keep: 5 }).aggregate(state([0, 0]), updates);
    closeTo(weightOf(best), [2.14, 11.1], 1e-5);
  });
});

test("a strategy of one's own extends Strategy", () => {
  class First extends Strategy {
    aggregate(_global, [first]) {
      return first.weights;
    }
  }
  assert.deepEqual(new First().stateDict(), {});
  assert.equal(new First().takesMean, false);
});

describe("options are refused by name:", () => {
  const kRefused = [
    [() => new FedProx({ mu: -1 }), /\[FedProx\] mu: expected a number of at least 0, got -1/],
    [() => new FedProx({}), /\[FedProx\] mu: .* got undefined/],
    [
      () => new DiLoCo({ Nesterov: true }),
      /\[DiLoCo\] there is no option "Nesterov"\. Write nesterov/,
    ],
    [() => new DiLoCo({ nesterov: 1 }), /nesterov: expected true or false, got 1/],
    [() => new DiLoCo({ momentum: 1 }), /momentum: expected a number .*below 1, got 1/],
    [() => new FedAdam({ learning_rate: 1 }), /\[FedAdam\] there is no option "learning_rate"/],
    [() => new FedYogi({ tau: 0 }), /\[FedYogi\] tau: expected a number above 0, got 0/],
    [() => new TrimmedMean({ share: 0.5 }), /share: expected a number of at least 0 and below 0.5/],
    [() => new Krum({ byzantine: 1.5 }), /byzantine: expected a whole number .*got 1.5/],
    [() => new Krum(null), /\[Krum\] options: expected an object, got null/],
    [() => new DiLoCo().loadStateDict({ momentum: { a: 1 } }), /state: expected tensors by name/],
  ];
  for (const [make, message] of kRefused) {
    test(String(message), () => {
      assert.throws(make, (error) => {
        assert.equal(error.code, "InvalidArgument");
        assert.match(error.message, message);
        return error instanceof eg.EdgeGradError;
      });
    });
  }
});
