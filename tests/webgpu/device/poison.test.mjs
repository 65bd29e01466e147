// A failure on the device belongs to what was computed from it: nobody else's reads fail, and optimizers leave the weights alone.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { assertRejects, assertTensor, assertThrows } from "../../js/support/assert.mjs";
import { eg, leaf, onGpu, options } from "../support/engine.mjs";

const kIndex = "IndexOutOfRange";
const indices = (...values) => onGpu(values.map(BigInt));
const rows = () => onGpu([[1, 2], [3, 4]]); // biome-ignore format: a matrix
/** Rows of which the second one does not exist. */
const bad = (x = rows()) => x.indexSelect(0, indices(0, 7));

describe("what is computed from a failure", options, () => {
  test("fails at every read, by the name of its op, and nothing else does", async () => {
    const [x, failed] = [rows(), bad()];
    const results = [
      failed,
      failed.mul(2),
      failed.sum(),
      failed.t().exp().mm(x),
      eg.cat([x, failed]),
    ];
    assertTensor(x.mul(2), [2, 4, 6, 8]);
    for (let i = 0; i < 2; i++) {
      for (const result of results)
        await assertRejects(result.data(), kIndex, /^\[indexSelect\].*7/);
      assertTensor(x, [1, 2, 3, 4]);
    }
    // Also what is computed when it is known.
    assertThrows(() => failed.add(1).dataSync(), kIndex, /indexSelect/);
    assertTensor(x.add(1), [2, 3, 4, 5]);
  });

  test("fails for views, and for what is changed in place by it, until it is replaced", async () => {
    const x = rows();
    const view = x.at(0);
    eg.noGrad(() => x.add_(bad()));
    await assertRejects(view.data(), kIndex);
    assertThrows(() => x.dataSync(), kIndex);
    x.zero_();
    assertTensor(view, [0, 0]);
    eg.noGrad(() => x.add_(bad()));
    x.copy_(rows());
    assertTensor(x, [1, 2, 3, 4]);
  });

  test("does not fail for tensors that get its memory later", async () => {
    for (let i = 0; i < 20; i++) {
      const failed = bad();
      if (i % 2) await assertRejects(failed.data(), kIndex);
      failed.dispose();
      assertTensor(rows().add(i), [1 + i, 2 + i, 3 + i, 4 + i]);
    }
  });

  test("fails with the first of two errors, and errors of other ops keep their names", async () => {
    const [a, b] = [bad(), eg.embedding(indices(9), rows())];
    await assertRejects(b.data(), kIndex, /^\[embedding\].*9/);
    await assertRejects(a.data(), kIndex, /^\[indexSelect\].*7/);
    await assertRejects(b.add(a.at(0)).data(), kIndex);
  });

  test("leaves the index as it is", () => {
    const index = indices(0, 7);
    rows().indexSelect(0, index);
    assertTensor(index, [0, 7]);
    assertTensor(eg.zeros([8, 1], { device: "webgpu" }).indexSelect(0, index), [0, 0]);
  });

  test("fails in backward, for the gradients that depend on it", async () => {
    const [w, v] = [leaf([[1, 2], [3, 4]]), leaf([1, 1])]; // biome-ignore format: a matrix
    bad(w).sum().add(v.sum()).backward();
    await assertRejects(w.grad.data(), kIndex);
    assertTensor(v.grad, [1, 1]);
  });

  test("fails among hundreds of failures that nobody read", async () => {
    const good = rows();
    let sum = eg.zeros([2, 2], { device: "webgpu" });
    for (let i = 0; i < 700; i++) {
      const found = good.indexSelect(0, indices(1, 0));
      sum = sum.add(found);
      if (i % 10 === 0) bad().dispose();
    }
    assertTensor(sum, [2100, 2800, 700, 1400]);
    await assertRejects(sum.add(bad()).data(), kIndex);
  });
});

/** Trains an embedding with a linear layer; `targets` are the classes. */
function makeTraining(optimizer) {
  const model = new eg.nn.Sequential(new eg.nn.Embedding(4, 3), new eg.nn.Linear(3, 2)).to(
    "webgpu",
  );
  const optim = optimizer(model.parameters());
  const step = (tokens, targets) => {
    optim.zeroGrad();
    const loss = eg.crossEntropy(model.call(tokens), targets);
    loss.backward();
    optim.step();
    return loss;
  };
  const weights = () => Promise.all(model.parameters().map((p) => p.data()));
  return { model, step, weights };
}

const kOptimizers = {
  SGD: (p) => new eg.optim.SGD(p, { lr: 0.1 }),
  "SGD with momentum": (p) => new eg.optim.SGD(p, { lr: 0.1, momentum: 0.9 }),
  Adam: (p) => new eg.optim.Adam(p, { lr: 0.1 }),
  AdamW: (p) => new eg.optim.AdamW(p, { lr: 0.1 }),
  RMSprop: (p) => new eg.optim.RMSprop(p, { lr: 0.1 }),
  Adagrad: (p) => new eg.optim.Adagrad(p, { lr: 0.1 }),
};

describe("a step of an optimizer whose gradients have failed", options, () => {
  const kTokens = () => indices(0, 1, 3);
  const kTargets = () => indices(0, 1, 1);
  for (const [name, optimizer] of Object.entries(kOptimizers)) {
    test(`leaves the weights as they were: ${name}`, async () => {
      const { step, weights } = makeTraining(optimizer);
      for (let i = 0; i < 2; i++) await step(kTokens(), kTargets()).itemAsync();
      for (const [tokens, targets, op] of [
        [indices(0, 1, 4), kTargets(), /^\[embedding\].*4/],
        [kTokens(), indices(0, 1, 2), /^\[crossEntropy\].*2/],
      ]) {
        const before = await weights();
        const lost = step(tokens, targets);
        assert.deepEqual(await weights(), before);
        await assertRejects(lost.itemAsync(), kIndex, op);
        // The next step is an ordinary one.
        await step(kTokens(), kTargets()).itemAsync();
        assert.notDeepEqual(await weights(), before);
      }
    });
  }

  test("also if nothing is read for many steps, and with gradients that are set to zero", async () => {
    const { model, step, weights } = makeTraining(kOptimizers.Adam);
    for (let i = 0; i < 3; i++) step(kTokens(), kTargets());
    const before = await weights();
    for (let i = 0; i < 40; i++) step(indices(0, 1, 9), kTargets());
    assert.deepEqual(await weights(), before);
    model.zeroGrad({ setToNone: false });
    for (const p of model.parameters()) assertTensor(p.grad, new Array(p.numel).fill(0));
    await step(kTokens(), kTargets()).itemAsync();
    assert.notDeepEqual(await weights(), before);
  });

  test("in a captured step, of which the next call is an ordinary one", async () => {
    const { step, weights } = makeTraining(kOptimizers.Adam);
    for (let i = 0; i < 2; i++) step(kTokens(), kTargets());
    const captured = eg.capture(step, kTokens(), kTargets());
    for (let i = 0; i < 3; i++) await captured(kTokens(), kTargets()).itemAsync();
    for (let i = 0; i < 3; i++) {
      const before = await weights();
      const lost = captured(indices(0, 8, 1), kTargets());
      const kept = captured(indices(0, 9, 1), kTargets());
      assert.deepEqual(await weights(), before);
      const good = captured(kTokens(), kTargets());
      await assertRejects(lost.itemAsync(), kIndex, /embedding.*8/);
      assert.ok(Number.isFinite(await good.itemAsync()));
      await assertRejects(kept.itemAsync(), kIndex, /embedding.*9/);
      assert.notDeepEqual(await weights(), before);
    }
    captured.dispose();
  });

  test("in a captured step that gets a failed input", async () => {
    const w = leaf([[1, 2], [3, 4]]); // biome-ignore format: a matrix
    const optim = new eg.optim.SGD([w], { lr: 0.1 });
    const step = eg.capture((x) => {
      optim.zeroGrad();
      const loss = w.mul(x).sum();
      loss.backward();
      optim.step();
      return loss;
    }, rows());
    for (let i = 0; i < 3; i++) await step(rows()).itemAsync();
    const before = await w.data();
    const lost = step(bad());
    assert.deepEqual(await w.data(), before);
    await assertRejects(lost.itemAsync(), kIndex);
    await step(rows()).itemAsync();
    assert.notDeepEqual(await w.data(), before);
    step.dispose();
  });
});

describe("engine workers", options, () => {
  after(() => eg.shutdown());

  test("are not told of failures of others", async () => {
    const kModule = new URL("../support/worker_module.mjs", import.meta.url);
    const failed = bad();
    const x = rows();
    const [trained] = await Promise.all([
      eg.spawn(kModule, "train", 1, 5),
      assertRejects(failed.data(), kIndex),
      assertRejects(eg.spawn(kModule, "outOfRange", onGpu([1, 2])), kIndex, /99/),
    ]);
    assert.ok(trained.losses.every(Number.isFinite));
    assertTensor(x, [1, 2, 3, 4]);
  });
});
