// Learning-rate schedulers, compared with PyTorch's documented formulas.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { lrScheduler, SGD, Adam, Adagrad } = eg.optim;
const kExact = { rtol: 1e-12, atol: 1e-15 };

const parameter = () => eg.ones([1], { requiresGrad: true });
const makeSgd = (lr = 0.1) => new SGD([parameter()], { lr, momentum: 0.9 });

/** Returns the learning rates at the start and after each of `count` steps. */
function ratesOf(make, count, optimizer = makeSgd()) {
  const scheduler = make(optimizer);
  const rates = [optimizer.paramGroups[0].lr];
  for (let i = 0; i < count; i++) {
    scheduler.step();
    rates.push(optimizer.paramGroups[0].lr);
    assert.deepEqual(scheduler.getLastLr(), [rates.at(-1)]);
    assert.equal(scheduler.lastEpoch, i + 1);
  }
  return rates;
}

const epochs = (count) => Array.from({ length: count + 1 }, (_, i) => i);

describe("schedulers of one formula", () => {
  test("StepLR falls every stepSize epochs", () => {
    const expected = [0.1, 0.1, 0.05, 0.05, 0.025, 0.025];
    assertClose(
      ratesOf((o) => new lrScheduler.StepLR(o, 2, 0.5), 5),
      expected,
      kExact,
    );
    assertClose(
      ratesOf((o) => new lrScheduler.StepLR(o, { stepSize: 2, gamma: 0.5 }), 5),
      expected,
      kExact,
    );
  });

  test("LinearLR goes from startFactor to endFactor and stays", () => {
    const expected = epochs(7).map((t) => 0.1 * (0.5 + 0.5 * (Math.min(t, 4) / 4)));
    assertClose(
      ratesOf((o) => new lrScheduler.LinearLR(o, 0.5, { totalIters: 4 }), 7),
      expected,
      kExact,
    );
    assertClose(
      ratesOf((o) => new lrScheduler.LinearLR(o), 5),
      epochs(5).map((t) => 0.1 * (1 / 3 + (2 / 3) * (t / 5))),
      kExact,
    );
  });

  test("CosineAnnealingLR falls to etaMin and rises again", () => {
    const expected = epochs(13).map((t) => 0.01 + (0.09 * (1 + Math.cos((Math.PI * t) / 5))) / 2);
    assertClose(
      ratesOf((o) => new lrScheduler.CosineAnnealingLR(o, 5, { etaMin: 0.01 }), 13),
      expected,
      { rtol: 1e-9, atol: 1e-12 },
    );
  });

  test("LambdaLR takes a function per group", () => {
    const optimizer = new SGD([{ params: parameter() }, { params: parameter(), lr: 1 }], { lr: 2 });
    const scheduler = new lrScheduler.LambdaLR(optimizer, [(t) => 0.5 ** t, (t) => 1 / (1 + t)]);
    for (let i = 0; i < 3; i++) scheduler.step();
    assertClose(scheduler.getLastLr(), [0.25, 0.25], kExact);
    assertThrows(
      () => new lrScheduler.LambdaLR(optimizer, [() => 1]),
      "InvalidArgument",
      /lrLambda: expected 2 .*got 1/,
    );
  });

  test("chain: the factors of two schedulers multiply", () => {
    const optimizer = makeSgd();
    const both = [
      new lrScheduler.StepLR(optimizer, 1, 0.5),
      new lrScheduler.LinearLR(optimizer, 0.5, 1, 2),
    ];
    for (let i = 0; i < 2; i++) for (const scheduler of both) scheduler.step();
    assertClose([optimizer.paramGroups[0].lr], [0.1 * 0.5 ** 2], kExact);
  });

  test("go to a given epoch in closed form", () => {
    const optimizer = makeSgd();
    const scheduler = new lrScheduler.StepLR(optimizer, 2, 0.5);
    scheduler.step(7);
    assertClose(scheduler.getLastLr(), [0.0125], kExact);
    scheduler.step(1);
    assertClose(scheduler.getLastLr(), [0.1], kExact);
  });
});

describe("OneCycleLR", () => {
  const cosine = (from, to, pct) => to + ((from - to) / 2) * (1 + Math.cos(Math.PI * pct));

  test("rises to maxLr and falls to the minimum, momentum the other way", () => {
    const optimizer = makeSgd();
    const scheduler = new lrScheduler.OneCycleLR(optimizer, 1, { totalSteps: 10 });
    const [group] = optimizer.paramGroups;
    for (const t of epochs(9)) {
      const [pct, from, to] = t <= 2 ? [t / 2, 0.04, 1] : [(t - 2) / 7, 1, 4e-6];
      const [high, low] = t <= 2 ? [0.95, 0.85] : [0.85, 0.95];
      assertClose([group.lr, group.momentum], [cosine(from, to, pct), cosine(high, low, pct)], {
        rtol: 1e-12,
        atol: 1e-14,
        what: `step ${t}`,
      });
      if (t < 9) scheduler.step();
    }
    scheduler.step();
    assertThrows(() => scheduler.step(), "InvalidArgument", /step 11 .*totalSteps = 10/);
    assert.equal(scheduler.lastEpoch, 10);
  });

  test("moves the first beta, in three straight phases", () => {
    const optimizer = new Adam([parameter()], { betas: [0.5, 0.99] });
    const options = { epochs: 4, stepsPerEpoch: 5, annealStrategy: "linear", threePhase: true };
    const scheduler = new lrScheduler.OneCycleLR(optimizer, 2, { ...options, divFactor: 10 });
    const [group] = optimizer.paramGroups;
    for (const t of epochs(19)) {
      // The phases end at 0.3 * 20 - 1, 0.6 * 20 - 2 and 19.
      const line = (from, to, begin, end) => from + ((to - from) * (t - begin)) / (end - begin);
      let expected = [line(0.2, 2e-5, 10, 19), 0.95];
      if (t <= 10) expected = [line(2, 0.2, 5, 10), line(0.85, 0.95, 5, 10)];
      if (t <= 5) expected = [line(0.2, 2, 0, 5), line(0.95, 0.85, 0, 5)];
      assertClose([group.lr, group.betas[0]], expected, { ...kExact, what: `step ${t}` });
      assert.equal(group.betas[1], 0.99);
      if (t < 19) scheduler.step();
    }
  });

  test("says what is missing", () => {
    assertThrows(
      () => new lrScheduler.OneCycleLR(makeSgd(), 1, {}),
      "InvalidArgument",
      /totalSteps, or epochs and stepsPerEpoch/,
    );
    assertThrows(
      () => new lrScheduler.OneCycleLR(new Adagrad([parameter()]), 1, { totalSteps: 5 }),
      "InvalidArgument",
      /cycleMomentum: .*momentum or betas/,
    );
  });
});

describe("state of schedulers", () => {
  test("is PyTorch's, and resumes where it was", () => {
    const first = makeSgd();
    const scheduler = new lrScheduler.CosineAnnealingLR(first, 10, 0.01);
    for (let i = 0; i < 4; i++) scheduler.step();
    const state = scheduler.stateDict();
    assert.deepEqual(Object.keys(state).sort(), [
      "T_max",
      "_last_lr",
      "_step_count",
      "base_lrs",
      "eta_min",
      "last_epoch",
    ]);
    assert.equal(state.last_epoch, 4);
    assert.equal(state._step_count, 5);

    const second = makeSgd(0.7);
    const resumed = new lrScheduler.CosineAnnealingLR(second, 3);
    second.loadStateDict(first.stateDict());
    resumed.loadStateDict(state);
    assert.deepEqual(resumed.getLastLr(), scheduler.getLastLr());
    scheduler.step();
    resumed.step();
    assert.equal(second.paramGroups[0].lr, first.paramGroups[0].lr);
    assert.equal(second.paramGroups[0].initialLr, 0.1);
  });

  test("can be created again after an epoch, from the optimizer's", () => {
    assertThrows(
      () => new lrScheduler.StepLR(makeSgd(), 1, { lastEpoch: 3 }),
      "InvalidArgument",
      /initialLr.*paramGroups\[\d+\]/,
    );
    const first = makeSgd();
    const scheduler = new lrScheduler.CosineAnnealingLR(first, 10);
    for (let i = 0; i < 4; i++) scheduler.step();
    const second = makeSgd();
    second.loadStateDict(first.stateDict());
    new lrScheduler.CosineAnnealingLR(second, 10, 0, 3);
    assertClose([second.paramGroups[0].lr], [first.paramGroups[0].lr], kExact);
  });

  test("leaves functions to the scheduler that loads it", () => {
    const make = () => new lrScheduler.LambdaLR(makeSgd(), (t) => 1 / (1 + t));
    const scheduler = make();
    scheduler.step();
    const state = scheduler.stateDict();
    assert.deepEqual(state.lr_lambdas, [null]);
    const resumed = make();
    resumed.loadStateDict(state);
    resumed.step();
    assertClose(resumed.getLastLr(), [0.1 / 3], kExact);
  });
});

test("schedulers that combine others say which of them is of another kind", () => {
  const { ChainedScheduler, ConstantLR, ReduceLROnPlateau, SequentialLR } = lrScheduler;
  const optimizer = makeSgd();
  const constant = new ConstantLR(optimizer);
  const plateau = new ReduceLROnPlateau(optimizer);
  for (const make of [
    (schedulers) => new SequentialLR(optimizer, schedulers, [3]),
    (schedulers) => new ChainedScheduler(schedulers),
  ]) {
    const refuses = (schedulers, text) =>
      assertThrows(() => make(schedulers), "InvalidArgument", text);
    refuses([constant, plateau], /index 1 is an object of class ReduceLROnPlateau/);
    refuses([optimizer, constant], /index 0 is an object of class SGD/);
    refuses([constant, null], /index 1 is null/);
  }
});
