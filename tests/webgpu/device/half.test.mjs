// float16 and bfloat16 on the device: stored in two bytes, computed in float32, with the CPU's bits.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor } from "../../js/support/assert.mjs";
import { opTable, samplesOf } from "../../js/support/op_samples.mjs";
import { eg, leaf, onGpu, options, warningsOf } from "../support/engine.mjs";
import { compare, isCallable } from "../support/laws/op_laws.mjs";
import { mapTensors } from "../support/laws/outcome.mjs";

const F = eg.nn.functional;
const kHalves = ["float16", "bfloat16"];

// Numbers at which a conversion may go wrong: limits, ties between neighbors, denormal numbers of each type.
function hardNumbers() {
  const numbers = [0, -0, Infinity, -Infinity, Number.NaN, 65504, 65519.99, 65520, 3.3e38, 3.4e38];
  for (let exponent = -27; exponent <= 17; exponent++)
    for (const digits of [1, 1 + 2 ** -11, 1 + 3 * 2 ** -11, 1 + 2 ** -10, 1.5, 2 - 2 ** -11])
      for (const beside of [0, 2 ** -20, -(2 ** -20)])
        numbers.push((digits + beside) * 2 ** exponent, -(digits + beside) * 2 ** exponent);
  for (const exponent of [-133, -126, -100, 100, 127])
    for (const digits of [1, 1 + 2 ** -8, 1 + 3 * 2 ** -8, 1.5])
      numbers.push(digits * 2 ** exponent);
  return Float32Array.from(numbers);
}

for (const dtype of kHalves) {
  describe(`${dtype} on the device`, options, () => {
    test("has the bits of the CPU for all numbers, both ways", () => {
      const hard = eg.tensor(hardNumbers());
      const usual = eg.randn([10_001]).mul(eg.rand([10_001]).mul(30).sub(20).exp());
      for (const numbers of [hard, usual]) {
        const right = numbers.to(dtype);
        assert.deepEqual(numbers.to("webgpu").to(dtype).dataSync(), right.dataSync());
        assert.deepEqual(right.to("webgpu").to("float32").dataSync(), right.dataSync());
      }
    });

    test("comes from all dtypes and goes to them", () => {
      const values = [0, 1, 2, 100, 250];
      for (const other of ["int32", "int64", "uint8", "bool", "complex64", ...kHalves]) {
        const host = eg.tensor(values).to(other);
        const x = host.to("webgpu").to(dtype);
        assert.deepEqual([x.dtype, x.device], [dtype, "webgpu"]);
        assert.deepEqual(x.dataSync(), host.to(dtype).dataSync(), other);
        const back = eg.tensor(values, { dtype }).to("webgpu").to(other);
        assert.deepEqual(back.dataSync(), eg.tensor(values, { dtype }).to(other).dataSync(), other);
      }
    });

    test("leaves what shares a word with it as it is", () => {
      const host = eg.arange(35, { dtype }).reshape(5, 7);
      const x = host.to("webgpu");
      for (const t of [host, x]) {
        t.at(1).fill_(-1);
        t.t()
          .at(eg.slice(3, 5))
          .copy_(eg.tensor([[0.5], [2.5]], { dtype, device: t.device }));
        t.narrow(1, 2, 1).mul_(2);
      }
      assert.deepEqual(x.dataSync(), host.dataSync());
      assert.deepEqual(x.t().contiguous().dataSync(), host.t().contiguous().dataSync());
    });

    test("takes two bytes per element of the GPU's memory", () => {
      const before = eg.memory().gpuBytes;
      const x = eg.zeros([3, 1024], { dtype, device: "webgpu" });
      assert.equal(eg.memory().gpuBytes - before, 6144);
      x.dispose();
    });

    test("computes every op as the CPU does, without the CPU", () => {
      const toHalves = (args) =>
        mapTensors(args, (t) =>
          t.dtype === "float32" ? t.detach().to(dtype).requiresGrad_(t.requiresGrad) : t,
        );
      // Other ops convert their operands as they do for float16.
      const isUsed = (op) => dtype === "float16" || op.kind === "elementwise";
      for (const op of opTable.filter(isCallable).filter(isUsed)) {
        const [sample] = samplesOf(op);
        const compared = compare(op, sample, { dtype: "float32", orders: 1, change: toHalves });
        assert.deepEqual(compared?.problems ?? [], []);
        for (const { kernel, dtypes } of compared?.fallbacks ?? [])
          assert.ok(!dtypes.includes(dtype), `${kernel} of ${dtypes} (for ${op.js})`);
      }
    });
  });
}

describe("mixed precision on the device", options, () => {
  test("rounds the operands of products in autocast, and keeps parameters and gradients", async () => {
    const numbers = eg.randn([6, 8]);
    const weights = eg.randn([4, 8]);
    const results = {};
    for (const device of ["cpu", "webgpu"]) {
      const x = numbers.to(device);
      const weight = weights.to(device).detach().requiresGrad_();
      const y = eg.autocast(() => F.linear(x, weight).relu(), { dtype: "float16" });
      assert.equal(y.dtype, "float16");
      y.float().square().mean().backward();
      assert.equal(weight.grad.dtype, "float32");
      results[device] = [y.float(), weight.grad].map((t) => t.to("cpu"));
    }
    results.webgpu.forEach((found, i) => {
      assertTensor(found, results.cpu[i].dataSync(), { rtol: 2 ** -9, atol: 2 ** -9 });
    });
  });

  test("trains with GradScaler, and leaves out steps whose gradients overflow", () => {
    const w = leaf([1, 2]);
    const optimizer = new eg.optim.SGD([w], { lr: 0.5 });
    const scaler = new eg.amp.GradScaler({ initScale: 8 });
    scaler.scale(w.half().sum()).backward();
    scaler.step(optimizer);
    scaler.update();
    assertTensor(w, [0.5, 1.5]);
    optimizer.zeroGrad();
    scaler.scale(w.half().mul(60_000).sum()).backward();
    scaler.step(optimizer);
    scaler.update();
    assertTensor(w, [0.5, 1.5]);
    assert.equal(scaler.getScale(), 4);
  });

  test("trains a model of half precision in captured steps as in eager ones", () => {
    const { nn, optim } = eg;
    const x = onGpu([[0.5, -1, 2], [1, 0.25, -0.5]]).half(); // biome-ignore format: a matrix
    const losses = [false, true].map((isCaptured) => {
      eg.manualSeed(3);
      const model = new nn.Sequential(new nn.Linear(3, 8), new nn.Tanh(), new nn.Linear(8, 1))
        .half()
        .to("webgpu");
      const optimizer = new optim.SGD(model.parameters(), { lr: 0.125 });
      const step = () => {
        optimizer.zeroGrad();
        const loss = model.call(x).square().mean();
        loss.backward();
        optimizer.step();
        return loss;
      };
      const run = isCaptured ? eg.capture(step) : step;
      // capture() itself runs the step twice.
      if (!isCaptured) for (let i = 0; i < 2; i++) step();
      return Array.from({ length: 6 }, () => run().item());
    });
    assert.deepEqual(losses[1], losses[0]);
    assert.ok(losses[0][5] < losses[0][0]);
  });

  test("draws random numbers and drops out on the device", async () => {
    const warnings = await warningsOf(() => {
      for (const dtype of kHalves) {
        const x = eg.randn([1000], { dtype, device: "webgpu" });
        assert.equal(x.dtype, dtype);
        assert.ok(Math.abs(x.float().std().item() - 1) < 0.2);
        const y = F.dropout(eg.ones([1000], { dtype, device: "webgpu" }), { p: 0.5 });
        assert.deepEqual([...new Set(y.dataSync())].sort(), [0, 2]);
      }
    });
    assert.deepEqual(warnings, []);
  });
});
