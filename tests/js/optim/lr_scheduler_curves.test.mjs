// The rates that schedulers set over 40 steps, compared with tests/golden/schedulers.json, which PyTorch wrote.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { assertClose, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { optim } = eg;
const { lrScheduler, swaUtils } = optim;
const file = new URL("../../golden/schedulers.json", import.meta.url);
const kCurves = JSON.parse(readFileSync(file, "utf8"));
const kExact = { rtol: 1e-9, atol: 1e-12 };

const parameter = () => eg.ones([1], { requiresGrad: true });

function makeOptimizer(groups = 2) {
  const all = [{ params: parameter() }, { params: parameter(), lr: 0.5 }].slice(0, groups);
  return new optim.SGD(all, { lr: 0.1, momentum: 0.9 });
}

/** Schedulers whose arguments cannot be written in a JSON file. */
const kMakers = {
  sequential: (o) => {
    const first = new lrScheduler.ConstantLR(o, { factor: 0.1, totalIters: 2 });
    const second = new lrScheduler.ExponentialLR(o, 0.9);
    const third = new lrScheduler.StepLR(o, 3, { gamma: 0.5 });
    return new lrScheduler.SequentialLR(o, [first, second, third], [4, 20]);
  },
  chained: (o) => {
    const first = new lrScheduler.ConstantLR(o, { factor: 0.1, totalIters: 2 });
    return new lrScheduler.ChainedScheduler([first, new lrScheduler.ExponentialLR(o, 0.9)]);
  },
  multiplicative: (o) => new lrScheduler.MultiplicativeLR(o, (e) => (e % 2 ? 0.95 : 1.01)),
  swa: (o) => new swaUtils.SWALR(o, 0.05),
  swaLinear: (o) => {
    return new swaUtils.SWALR(o, [0.05, 0.9], { annealEpochs: 7, annealStrategy: "linear" });
  },
  swaAtOnce: (o) => new swaUtils.SWALR(o, 0.05, { annealEpochs: 0 }),
  cyclicCustom: (o) => {
    const scaleFn = (at) => 1 / (1 + 0.1 * at);
    const options = { stepSizeUp: 4, scaleFn, scaleMode: "iterations", cycleMomentum: false };
    return new lrScheduler.CyclicLR(o, 0.01, 0.1, options);
  },
};

const ratesOf = (optimizer) => optimizer.paramGroups.map(({ lr }) => lr);

for (const curve of kCurves) {
  const { scheduler: name, composed, args, options, groups, rates, momenta, metrics } = curve;
  const make = kMakers[composed] ?? ((o) => new lrScheduler[name](o, ...args, options));
  const step = (scheduler, i) => (metrics ? scheduler.step(metrics[i]) : scheduler.step());
  describe(composed ?? `${name}(${JSON.stringify([...args, options]).slice(1, -1)})`, () => {
    test("follows PyTorch", () => {
      const optimizer = makeOptimizer(groups);
      const scheduler = make(optimizer);
      for (const [i, expected] of rates.entries()) {
        assertClose(ratesOf(optimizer), expected, { ...kExact, what: `rates at ${i}` });
        assert.deepEqual(scheduler.getLastLr(), ratesOf(optimizer));
        if (momenta) {
          const own = optimizer.paramGroups.map(({ momentum }) => momentum);
          assertClose(own, momenta[i], { ...kExact, what: `momenta at ${i}` });
        }
        step(scheduler, i);
      }
    });

    test("resumes exactly from its state", () => {
      const optimizer = makeOptimizer(groups);
      const scheduler = make(optimizer);
      for (let i = 0; i < 9; i++) step(scheduler, i);
      const later = makeOptimizer(groups);
      const second = make(later);
      second.loadStateDict(structuredClone(scheduler.stateDict()));
      later.loadStateDict(structuredClone(optimizer.stateDict()));
      for (let i = 9; i < 30; i++) {
        step(scheduler, i);
        step(second, i);
        assert.deepEqual(ratesOf(later), ratesOf(optimizer), `step ${i}`);
        assert.deepEqual(later.paramGroups.at(0).momentum, optimizer.paramGroups.at(0).momentum);
      }
    });
  });
}

test("a schedule resumes from its state in a scheduler with other settings", () => {
  const made = {
    StepLR: [[3, { gamma: 0.5 }], [7]],
    MultiStepLR: [[[3, 12]], [[1], { gamma: 0.9 }]],
    ExponentialLR: [[0.9], [0.5]],
    ConstantLR: [[{ factor: 0.5, totalIters: 15 }], [{ factor: 0.1, totalIters: 2 }]],
    LinearLR: [[{ startFactor: 0.2, totalIters: 20 }], [{ startFactor: 0.9 }]],
    PolynomialLR: [[20, 1.5], [12]],
    CosineAnnealingLR: [[20], [13, 0.01]],
    CosineAnnealingWarmRestarts: [[4, 2], [9]],
    CyclicLR: [
      [0.01, 0.3, 4, { mode: "triangular2" }],
      [0.1, 0.2, 7],
    ],
    OneCycleLR: [
      [0.4, 40, { threePhase: true, annealStrategy: "linear" }],
      [0.1, 90, { pctStart: 0.1 }],
    ],
  };
  for (const [name, [args, others]] of Object.entries(made)) {
    const optimizer = makeOptimizer();
    const scheduler = new lrScheduler[name](optimizer, ...args);
    for (let i = 0; i < 10; i++) scheduler.step();
    const later = makeOptimizer();
    const second = new lrScheduler[name](later, ...others);
    second.loadStateDict(structuredClone(scheduler.stateDict()));
    later.loadStateDict(structuredClone(optimizer.stateDict()));
    for (let i = 10; i < 30; i++) {
      scheduler.step();
      second.step();
      assert.deepEqual(ratesOf(later), ratesOf(optimizer), `${name}, step ${i}`);
      assert.equal(later.paramGroups[0].momentum, optimizer.paramGroups[0].momentum, name);
    }
  }
});

test("CyclicLR moves the first beta where there is no momentum", () => {
  const optimizer = new optim.Adam([parameter()], { betas: [0.5, 0.99] });
  const scheduler = new lrScheduler.CyclicLR(optimizer, 0.1, 0.3, 2);
  const [group] = optimizer.paramGroups;
  const seen = [0, 1, 2, 3].map(() => {
    const now = [group.lr, ...group.betas];
    scheduler.step();
    return now;
  });
  const expected = [
    [0.1, 0.9],
    [0.2, 0.85],
    [0.3, 0.8],
    [0.2, 0.85],
  ].map((one) => [...one, 0.99]);
  assertClose(seen.flat(), expected.flat(), kExact);
});

test("schedulers go to a given epoch", () => {
  const at = (make, epoch) => {
    const optimizer = makeOptimizer(1);
    make(optimizer).step(epoch);
    return optimizer.paramGroups[0].lr;
  };
  const { MultiStepLR, ExponentialLR, ConstantLR, PolynomialLR } = lrScheduler;
  assertClose(
    [
      at((o) => new MultiStepLR(o, [2, 2, 9]), 5),
      at((o) => new ExponentialLR(o, 0.5), 3),
      at((o) => new ConstantLR(o, 0.5, 4), 3),
      at((o) => new PolynomialLR(o, 4, 2), 2),
      // The waves have 4, 8 and 16 epochs, so epoch 8.5 is 4.5 epochs into the second one.
      at((o) => new lrScheduler.CosineAnnealingWarmRestarts(o, 4, 2), 8.5),
    ],
    [0.001, 0.0125, 0.05, 0.025, 0.05 * (1 + Math.cos((Math.PI * 4.5) / 8))],
    kExact,
  );
});

describe("schedulers of schedulers of schedulers", () => {
  const { ChainedScheduler, ConstantLR, ExponentialLR, LinearLR, SequentialLR, StepLR } =
    lrScheduler;
  const follow = (o, scheduler, expected) => {
    for (const [i, rate] of expected.entries()) {
      const rates = [rate, 5 * rate];
      assertClose(ratesOf(o), rates, { ...kExact, what: `rates at ${i}` });
      assert.deepEqual(scheduler.getLastLr(), ratesOf(o));
      scheduler.step();
    }
  };
  const chained = (o) => {
    const constant = new ConstantLR(o, { factor: 0.5, totalIters: 2 });
    return new ChainedScheduler([constant, new ExponentialLR(o, 0.9)]);
  };
  const kChained = [0.05, 0.045, 0.081, 0.0729];

  test("chained ones first, and later", () => {
    const first = makeOptimizer();
    const step = new StepLR(first, 2, 0.5);
    const wanted = [...kChained.slice(0, 3), 0.1, 0.1, 0.05];
    follow(first, new SequentialLR(first, [chained(first), step], [3]), wanted);
    const later = makeOptimizer();
    const linear = new LinearLR(later, { startFactor: 0.5, totalIters: 2 });
    const scheduler = new SequentialLR(later, [linear, chained(later)], [2]);
    follow(later, scheduler, [0.05, 0.075, ...kChained]);
  });

  test("sequences in sequences, and what was saved of them", () => {
    const make = (o) => {
      const inner = () => {
        const warm = new LinearLR(o, { startFactor: 0.5, totalIters: 2 });
        return new SequentialLR(o, [warm, new ExponentialLR(o, 0.5)], [2]);
      };
      return new SequentialLR(o, [inner(), inner(), chained(o)], [4, 7]);
    };
    const kInner = [0.05, 0.075, 0.1, 0.05];
    const wanted = [...kInner, ...kInner.slice(0, 3), ...kChained];
    const o = makeOptimizer();
    follow(o, make(o), wanted);
    const [before, after] = [makeOptimizer(), makeOptimizer()];
    const saved = make(before);
    for (let i = 0; i < 5; i++) saved.step();
    const loaded = make(after);
    after.loadStateDict(before.stateDict());
    loaded.loadStateDict(saved.stateDict());
    follow(after, loaded, wanted.slice(5));
  });

  test("and in chains", () => {
    const o = makeOptimizer();
    const warm = new LinearLR(o, { startFactor: 0.5, totalIters: 2 });
    const sequence = new SequentialLR(o, [warm, new ExponentialLR(o, 0.5)], [2]);
    const scheduler = new ChainedScheduler([sequence]);
    follow(o, scheduler, [0.05, 0.075, 0.1, 0.05]);
  });
});

test("schedulers take all their arguments as options", () => {
  const o = makeOptimizer();
  const constant = new lrScheduler.ConstantLR(o, { factor: 0.5 });
  const made = [
    new lrScheduler.MultiStepLR(o, { milestones: [2], gamma: 0.5 }),
    new lrScheduler.ExponentialLR(o, { gamma: 0.5 }),
    new lrScheduler.LambdaLR(o, { lrLambda: [() => 1, () => 2] }),
    new lrScheduler.MultiplicativeLR(o, { lrLambda: () => 1 }),
    new lrScheduler.CyclicLR(o, { baseLr: 0.1, maxLr: 0.2, stepSizeUp: 2 }),
    new lrScheduler.CosineAnnealingWarmRestarts(o, { t0: 2, tMult: 3 }),
    new lrScheduler.SequentialLR(o, { schedulers: [constant], milestones: [] }),
    new lrScheduler.SequentialLR(o, [constant], { milestones: [] }),
  ];
  assert.deepEqual(
    [made[0].gamma, made[1].gamma, made[4].totalSize, made[5].tMult],
    [0.5, 0.5, 4, 3],
  );
  assert.equal(made[2].lrLambdas[1](), 2);
  assertThrows(
    () => new lrScheduler.ExponentialLR(o, { Gamma: 0.5 }),
    "InvalidArgument",
    /Did you mean "gamma"/,
  );
});

test("state dicts have PyTorch's keys", () => {
  const o = makeOptimizer(1);
  const keysOf = (scheduler) => Object.keys(scheduler.stateDict()).sort().join(" ");
  const own = "_last_lr _step_count";
  const { MultiStepLR, CosineAnnealingWarmRestarts, SequentialLR, ReduceLROnPlateau } = lrScheduler;
  const multi = new MultiStepLR(o, [3, 3, 5]);
  assert.equal(keysOf(multi), `${own} base_lrs gamma last_epoch milestones`);
  assert.deepEqual(multi.stateDict().milestones, { 3: 2, 5: 1 });
  const warm = new CosineAnnealingWarmRestarts(o, 3);
  assert.equal(keysOf(warm), `T_0 T_cur T_i T_mult ${own} base_lrs eta_min last_epoch`);
  const { _schedule_phases: phases } = new lrScheduler.OneCycleLR(o, 1, 21).stateDict();
  assert.deepEqual(phases[1], {
    end_step: 20,
    start_lr: "max_lr",
    end_lr: "min_lr",
    start_momentum: "base_momentum",
    end_momentum: "max_momentum",
  });
  const both = new SequentialLR(o, [multi, warm], [2]);
  assert.equal(keysOf(both), "_last_lr _milestones _schedulers last_epoch");
  assert.deepEqual(both.stateDict()._schedulers[1], warm.stateDict());
  assert.equal(
    keysOf(new ReduceLROnPlateau(o)),
    "_last_lr best cooldown cooldown_counter eps factor last_epoch min_lrs mode mode_worse " +
      "num_bad_epochs patience threshold threshold_mode",
  );
});

test("schedulers say what they cannot take", () => {
  const refuses = (fn, text) => assertThrows(fn, "InvalidArgument", text);
  const o = makeOptimizer();
  const { ChainedScheduler, ConstantLR, CyclicLR, ExponentialLR, SequentialLR } = lrScheduler;
  const { ReduceLROnPlateau, CosineAnnealingWarmRestarts, MultiStepLR } = lrScheduler;
  refuses(() => new MultiStepLR(o, 3), /\[MultiStepLR\] milestones/);
  refuses(() => new ExponentialLR(o), /\[ExponentialLR\] gamma/);
  refuses(() => new ConstantLR(o, 1.5), /factor: .*from 0 to 1.* 1\.5/);
  refuses(() => new CosineAnnealingWarmRestarts(o, 0), /t0: .* 0\./);
  refuses(() => new CosineAnnealingWarmRestarts(o, 2).step(-1), /epoch: .*got -1/);
  refuses(() => new CyclicLR(o, [0.1], 1), /baseLr: expected 2 values.*per group/);
  refuses(() => new CyclicLR(o, 0.1, 1, { mode: "square" }), /mode: .*got "square"/);
  refuses(
    () => new CyclicLR(new optim.Adagrad([parameter()]), 0.1, 1),
    /cycleMomentum: .*momentum or betas/,
  );
  refuses(() => new ReduceLROnPlateau(o, { factor: 1 }), /factor: .*below 1.* 1\./);
  refuses(() => new ReduceLROnPlateau(o).step(), /\[ReduceLROnPlateau\.step\] metrics/);
  const plateau = new ReduceLROnPlateau(o);
  const constant = new ConstantLR(o);
  refuses(
    () => new SequentialLR(o, [plateau, constant], [2]),
    /a scheduler that follows a formula/,
  );
  refuses(() => new SequentialLR(o, [constant], [2]), /milestones: .*one less/);
  refuses(() => new SequentialLR(makeOptimizer(), [constant], []), /same optimizer/);
  refuses(() => new ChainedScheduler([plateau]), /needs no metric/);
  refuses(() => new ChainedScheduler([]), /schedulers: .*at least one/);
  refuses(
    () => new swaUtils.SWALR(o, 0.1, { annealStrategy: "log" }),
    /annealStrategy: .*got "log"/,
  );
});
