// eg.warmup(): a run whose effects are undone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRejects } from "../support/assert.mjs";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";

const { nn, optim } = eg;

/** A model with buffers and random numbers, everything that trains it, and its step. */
function training() {
  eg.manualSeed(3);
  const model = new nn.Sequential(
    new nn.Linear(4, 6),
    new nn.BatchNorm1d(6),
    new nn.Dropout(0.5),
    new nn.Linear(6, 2),
  );
  const optimizer = new optim.Adam(model.parameters(), { lr: 0.1, amsgrad: true });
  const scheduler = new optim.lrScheduler.StepLR(optimizer, { stepSize: 1, gamma: 0.5 });
  const x = eg.randn([5, 4]);
  const step = () => {
    optimizer.zeroGrad();
    const loss = model.call(x).square().mean();
    loss.backward();
    optimizer.step();
    scheduler.step();
    return loss;
  };
  return { model, optimizer, scheduler, step };
}

const arrays = (tensors) => [...tensors].map((one) => one && [...one.dataSync()].map(Number));

function stateOf({ model, optimizer, scheduler }) {
  const { state, param_groups: groups } = optimizer.stateDict();
  return {
    model: arrays(Object.values(model.stateDict())),
    grads: arrays([...model.parameters()].map(({ grad }) => grad)),
    optimizer: Object.values(state).map((own) =>
      Object.values(own).map((value) => (value instanceof eg.Tensor ? arrays([value]) : value)),
    ),
    rates: groups.map(({ lr }) => lr),
    scheduler: JSON.stringify(scheduler.stateDict()),
    random: arrays([eg.random.getState()]),
  };
}

for (const before of [0, 2]) {
  test(`training continues as if it had not been, after ${before} steps`, async () => {
    const expected = training();
    const given = training();
    eg.manualSeed(8);
    for (let i = 0; i < before; i++) expected.step();
    const losses = [expected.step().item(), expected.step().item()];
    eg.manualSeed(8);
    for (let i = 0; i < before; i++) given.step();
    const state = stateOf(given);
    const { model, optimizer, scheduler } = given;
    let runs = 0;
    await eg.warmup(
      () => {
        runs++;
        return given.step();
      },
      { restore: [model, optimizer, scheduler] },
    );
    assert.equal(runs, 1);
    assert.deepEqual(stateOf(given), state);
    assert.deepEqual([given.step().item(), given.step().item()], losses);
  });
}

test("what is not listed stays changed, and tensors are restored with their gradients", async () => {
  const [a, b] = [eg.tensor([1, 2], { requiresGrad: true }), eg.tensor([1, 2])];
  a.square().sum().backward();
  const { grad } = a;
  await eg.warmup(
    async () => {
      a.mul(b.add_(1)).sum().backward();
      await null;
      eg.noGrad(() => a.mul_(5));
    },
    { restore: [a] },
  );
  assert.deepEqual(arrays([a, a.grad, b]), [
    [1, 2],
    [2, 4],
    [2, 3],
  ]);
  assert.equal(a.grad, grad);
});

test("everything is restored when the function throws", async () => {
  const given = training();
  const state = stateOf(given);
  const error = new Error("no");
  const restore = [given.model, given.optimizer, given.scheduler];
  const fails = () => {
    given.step();
    throw error;
  };
  await assert.rejects(eg.warmup(fails, { restore }), error);
  await assert.rejects(
    eg.warmup(async () => fails(), { restore }),
    error,
  );
  assert.deepEqual(stateOf(given), state);
});

test("no memory is left behind, also in a scope", async () => {
  const given = training();
  given.step();
  const restore = [given.model, given.optimizer, given.scheduler];
  await eg.warmup(given.step, { restore });
  await collectGarbage();
  const before = eg.memory();
  for (let i = 0; i < 5; i++) await eg.warmup(given.step, { restore });
  await eg.scope(() => eg.warmup(given.step, { restore }));
  await collectGarbage();
  const { tensors, cpuBytes } = eg.memory();
  assert.deepEqual({ tensors, cpuBytes }, { tensors: before.tensors, cpuBytes: before.cpuBytes });
  assert.ok(Number.isFinite(given.step().item()));
});

test("wrong arguments", async () => {
  await assertRejects(eg.warmup(), "InvalidArgument", /\[warmup\] fn/);
  await assertRejects(eg.warmup(1), "InvalidArgument", /\[warmup\] fn/);
  const some = { stateDict: 1, loadStateDict: 1 };
  for (const restore of [1, null, {}, "model", [some], [null], eg.ones(1)])
    await assertRejects(
      eg.warmup(() => 1, { restore }),
      "InvalidArgument",
      /restore/,
    );
});
