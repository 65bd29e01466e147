// Mixed precision: autocast() and GradScaler.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { readJson } from "../support/files.mjs";

const F = eg.nn.functional;
const golden = readJson("tests/golden/half.json").autocast;
const numbers = (tensor) => [...tensor.dataSync()].map(Number);
const kStep = 2 ** -7;

describe("autocast", () => {
  test("gives PyTorch's dtypes, values and gradients", () => {
    const leaf = (name, shape) => eg.tensor(golden[name], { shape, requiresGrad: true });
    const w1 = leaf("w1", [8, 5]);
    const w2 = leaf("w2", [3, 8]);
    const k = leaf("k", [3, 2, 3, 3]);
    const x = eg.tensor(golden.x, { shape: [6, 5] });
    const y = eg.tensor(golden.y, { dtype: "int64" });
    const image = eg.tensor(golden.img, { shape: [1, 2, 5, 5] });
    const found = eg.autocast(() => {
      const h = F.linear(x, w1);
      const z = F.linear(h.relu(), w2);
      const mm = x.mm(w1.t());
      return {
        h,
        z,
        loss: F.crossEntropy(z, y),
        conv: F.conv2d(image, k),
        softmax: z.softmax(-1),
        mm,
        sumOfBoth: mm.add(x.sum()),
        mse: F.mseLoss(z, eg.zerosLike(z)),
        cat: eg.cat([z, eg.zeros([6, 1])], 1),
      };
    });
    for (const [name, result] of Object.entries(found)) {
      const { dtype, value } = golden[name];
      assert.equal(result.dtype, dtype, name);
      if (value) assertClose(numbers(result), value, { rtol: 2 * kStep, atol: kStep, what: name });
    }
    found.loss.backward();
    found.conv.float().sum().backward();
    for (const [name, { grad }] of Object.entries({ gradW1: w1, gradW2: w2, gradK: k })) {
      assert.equal(grad.dtype, "float32");
      assertClose(numbers(grad), golden[name], { rtol: 4 * kStep, atol: kStep, what: name });
    }
  });

  test("takes dtype and enabled, nests, and ends with the function", () => {
    const x = eg.ones([2, 2]);
    const dtype = () => x.mm(x).dtype;
    assert.equal(dtype(), "float32");
    const seen = eg.autocast(() => [
      dtype(),
      eg.autocast(dtype, { dtype: "float16" }),
      eg.autocast(dtype, { enabled: false }),
      dtype(),
    ]);
    assert.deepEqual(seen, ["bfloat16", "float16", "float32", "bfloat16"]);
    assert.equal(dtype(), "float32");
    assert.throws(
      () =>
        eg.autocast(() => {
          throw new Error("mine");
        }),
      /mine/,
    );
    assert.equal(dtype(), "float32");
    assert.equal(eg.amp.autocast, eg.autocast);
  });

  test("reaches products wherever they are called, and nothing else", () => {
    const a = eg.randn([2, 3, 4]);
    const q = eg.randn([1, 2, 3, 4]);
    const double = eg.ones([2, 2], { dtype: "float64" });
    eg.autocast(() => {
      assert.equal(eg.einsum("bij,bkj->bik", a, a).dtype, "bfloat16");
      assert.equal(F.scaledDotProductAttention(q, q, q).dtype, "bfloat16");
      assert.equal(new eg.nn.Linear(4, 2).forward(a).dtype, "bfloat16");
      assert.equal(eg.func.vmap((row) => row.matmul(row.t()))(a).dtype, "bfloat16");
      assert.equal(new eg.nn.Sequential(new eg.nn.Conv1d(3, 2, 1)).forward(a).dtype, "bfloat16");
      assert.equal(double.mm(double).dtype, "float64");
      for (const other of [a.add(1), a.exp(), a.sum(), a.softmax(-1)])
        assert.equal(other.dtype, "float32");
      const normed = new eg.nn.LayerNorm(2).forward(new eg.nn.Linear(4, 2).forward(a));
      assert.equal(normed.dtype, "bfloat16");
      const square = eg.ones([2, 2]);
      assert.equal(square.addmm_(square.clone(), square.clone()), square);
      assert.equal(square.dtype, "float32");
    });
  });

  test("refuses promises and what it does not know", () => {
    assertThrows(
      () => eg.autocast(async () => 1),
      "InvalidArgument",
      /autocast\(\) inside the async/,
    );
    assertThrows(() => eg.autocast(() => 1, { dtype: "float32" }), "InvalidArgument", /dtype/);
    assertThrows(() => eg.autocast(() => 1, { enable: true }), "InvalidArgument", /enable/);
    assertThrows(() => eg.autocast(3), "InvalidArgument", /fn/);
    assert.equal(eg.ones([1, 1]).mm(eg.ones([1, 1])).dtype, "float32");
  });
});

describe("GradScaler", () => {
  const make = (options) => {
    const p = eg.tensor([1, 2], { requiresGrad: true });
    return {
      p,
      optimizer: new eg.optim.SGD([p], { lr: 0.5 }),
      scaler: new eg.amp.GradScaler(options),
    };
  };

  test("scales losses and unscales gradients", () => {
    const { p, optimizer, scaler } = make();
    assert.equal(scaler.getScale(), 65536);
    scaler.scale(p.sum()).backward();
    assert.deepEqual(numbers(p.grad), [65536, 65536]);
    scaler.unscale_(optimizer);
    assert.deepEqual(numbers(p.grad), [1, 1]);
    scaler.step(optimizer);
    assert.deepEqual(numbers(p), [0.5, 1.5]);
    scaler.update();
    const [a, b] = scaler.scale([p.sum(), p.mean()]);
    assert.deepEqual([a.item(), b.item()], [131072, 65536]);
  });

  test("leaves out steps with infinities and NaN, and backs off", () => {
    for (const bad of [Infinity, Number.NaN]) {
      const { p, optimizer, scaler } = make({ initScale: 8, growthInterval: 2 });
      const step = (gradient) => {
        p.grad = eg.tensor(gradient);
        scaler.step(optimizer);
        scaler.update();
        return [numbers(p), scaler.getScale()];
      };
      assert.deepEqual(step([1, bad]), [[1, 2], 4]);
      assert.deepEqual(step([4, 4]), [[0.5, 1.5], 4]);
      assert.deepEqual(step([4, 4]), [[0, 1], 8]);
      assert.deepEqual(step([bad, 0]), [[0, 1], 4]);
      assert.deepEqual(scaler.stateDict(), {
        scale: 4,
        growth_factor: 2,
        backoff_factor: 0.5,
        growth_interval: 2,
        _growth_tracker: 0,
      });
    }
  });

  test("keeps its state", () => {
    const { scaler } = make({ initScale: 32, growthFactor: 4, growthInterval: 3 });
    const other = new eg.amp.GradScaler();
    other.loadStateDict(scaler.stateDict());
    assert.deepEqual(other.stateDict(), scaler.stateDict());
    assertThrows(() => other.loadStateDict({}), "InvalidArgument", /state: the object is empty/);
    assertThrows(() => other.loadStateDict({ scale: 1 }), "InvalidArgument", /growth_factor/);
    assert.deepEqual(other.stateDict(), scaler.stateDict());
    other.update(3);
    assert.equal(other.getScale(), 3);
  });

  test("that is not enabled does nothing", () => {
    const { p, optimizer, scaler } = make({ enabled: false });
    scaler.scale(p.sum()).backward();
    scaler.unscale_(optimizer);
    scaler.step(optimizer);
    scaler.update();
    assert.deepEqual(numbers(p), [0.5, 1.5]);
    assert.deepEqual([scaler.getScale(), scaler.isEnabled(), scaler.stateDict()], [1, false, {}]);
  });

  test("refuses what makes no sense", () => {
    assert.equal(new eg.amp.GradScaler("cpu").getScale(), 65536);
    assert.equal(new eg.amp.GradScaler("webgpu", { initScale: 8 }).getScale(), 8);
    assert.equal(new eg.amp.GradScaler({ device: "cpu", initScale: 4 }).getScale(), 4);
    assert.equal(new eg.amp.GradScaler("cpu", 2, 3).getScale(), 2);
    assertThrows(() => new eg.amp.GradScaler("cuda"), "InvalidArgument", /device.*"webgpu"/);
    assertThrows(() => new eg.amp.GradScaler({ growthFactor: 1 }), "InvalidArgument", /growth/);
    assertThrows(() => new eg.amp.GradScaler({ backoffFactor: 1 }), "InvalidArgument", /backoff/);
    assertThrows(() => new eg.amp.GradScaler({ init: 1 }), "InvalidArgument", /init/);
    const { p, optimizer, scaler } = make();
    assertThrows(() => scaler.update(), "InvalidArgument", /before update/);
    assertThrows(() => scaler.step(optimizer), "InvalidArgument", /no gradients/);
    assertThrows(() => scaler.scale(3), "InvalidArgument", /outputs/);
    p.grad = eg.ones([2]);
    scaler.unscale_(optimizer);
    assertThrows(() => scaler.unscale_(optimizer), "InvalidArgument", /already called/);
    scaler.step(optimizer);
    assertThrows(() => scaler.step(optimizer), "InvalidArgument", /already called/);
    assertThrows(() => scaler.unscale_(optimizer), "InvalidArgument", /before step/);
    const half = eg.zeros([1], { dtype: "float16", requiresGrad: true });
    half.grad = eg.onesLike(half);
    const ofHalf = new eg.optim.SGD([half], { lr: 1 });
    assertThrows(() => scaler.step(ofHalf), "InvalidArgument", /float16 gradients/);
    assert.deepEqual(numbers(half), [0]);
  });

  test("trains a small model in float16", () => {
    eg.manualSeed(1);
    const model = new eg.nn.Sequential(
      new eg.nn.Linear(2, 16),
      new eg.nn.Tanh(),
      new eg.nn.Linear(16, 2),
    );
    const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.05 });
    const scaler = new eg.amp.GradScaler({ initScale: 2 ** 24, growthInterval: 20 });
    const x = eg.tensor([0, 0, 0, 1, 1, 0, 1, 1], { shape: [4, 2] });
    const y = eg.tensor([0, 1, 1, 0], { dtype: "int64" });
    const step = () =>
      eg.scope(() => {
        optimizer.zeroGrad();
        const loss = eg.autocast(() => F.crossEntropy(model.forward(x), y), { dtype: "float16" });
        scaler.scale(loss).backward();
        scaler.step(optimizer);
        scaler.update();
        return loss.item();
      });
    const first = step();
    assert.ok(scaler.getScale() < 2 ** 24, "the factor at the start is too large");
    // The first step that is not skipped creates the state of the optimizer.
    for (let i = 0; i < 20; i++) step();
    const { tensors, jsHandles } = eg.memory();
    let last = first;
    for (let i = 0; i < 100; i++) last = step();
    assert.ok(last < 0.05 && first > 0.3, `${first} -> ${last}`);
    assert.deepEqual([eg.memory().tensors, eg.memory().jsHandles], [tensors, jsHandles]);
    for (const parameter of model.parameters()) assert.equal(parameter.dtype, "float32");
  });
});

test("a GradScaler refuses what is no optimizer", () => {
  const scaler = new eg.amp.GradScaler();
  for (const given of [
    undefined,
    1,
    [-1, 2],
    {},
    { paramGroups: [{}], step() {} },
    { paramGroups: [null], step() {} },
  ]) {
    for (const method of ["unscale_", "step"]) {
      const message = new RegExp(`\\[GradScaler\\.${method}\\] optimizer: expected an optimizer`);
      assertThrows(() => scaler[method](given), "InvalidArgument", message);
    }
  }
});
