// Graphs with nodes on the CPU and on the device.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertRejects, assertTensor, assertThrows } from "../../js/support/assert.mjs";
import { runProgram } from "../../js/support/child.mjs";
import { eg, leaf, onGpu, options } from "../support/engine.mjs";

const cpuLeaf = (data) => eg.tensor(data, { requiresGrad: true });

/** Both directions between the devices. */
const kWays = [
  ["cpu", "webgpu"],
  ["webgpu", "cpu"],
];

describe("a graph that crosses between the devices", options, () => {
  for (const [from, to] of kWays) {
    test(`from ${from} to ${to} and back is right 200 times`, () => {
      // rule: gradient-crosses-devices, owner-woken
      const x = eg.tensor([1, 2, 3], { device: from, requiresGrad: true });
      for (let i = 0; i < 200; i++) {
        eg.scope(() => x.mul(2).to(to).square().to(from).sum().backward());
      }
      // d/dx (2 x)^2 = 8 x.
      assertTensor(x.grad, [1600, 3200, 4800]);
      assert.equal(x.grad.device, from);
    });
  }

  test("in branches of both devices adds them up where the leaf is", () => {
    for (const [home, away] of kWays) {
      const x = eg.tensor([1, -2], { device: home, requiresGrad: true });
      const near = x.square();
      const far = x.to(away).mul(3).to(home);
      near.add(far).sum().backward();
      assertTensor(x.grad, [5, -1]);
      assert.equal(x.grad.device, home);
    }
  });

  test("gives every leaf its gradient on its own device", () => {
    const [a, b] = [cpuLeaf([2, 3]), leaf([5, 7])];
    a.to("webgpu").mul(b).sum().backward();
    assertTensor(a.grad, [5, 7]);
    assertTensor(b.grad, [2, 3]);
    assert.deepEqual([a.grad.device, b.grad.device], ["cpu", "webgpu"]);
  });

  test("runs a node whose gradients are all missing on its device's thread", () => {
    // rule: node-device-decides
    class Nothing extends eg.autograd.Function {
      static forward(ctx, x) {
        ctx.setMaterializeGrads(false);
        return x.clone();
      }
      static backward() {
        return null;
      }
    }
    const x = leaf([1, 2]);
    const { events } = eg.autograd.profile(() => {
      const y = Nothing.apply(x.mul(2)).to("cpu");
      y.add(cpuLeaf([1, 1]))
        .sum()
        .backward();
    });
    assert.equal(x.grad, null);
    const of = (device) => new Set(events.filter((e) => e.device === device).map((e) => e.thread));
    assert.deepEqual(
      [...of("cpu")].filter((thread) => of("webgpu").has(thread)),
      [],
    );
    assert.ok(events.some(({ name, device }) => name === "MulBackward0" && device === "webgpu"));
  });

  test("gradAsync and backwardAsync cross, too", async () => {
    const x = leaf([1, 2]);
    const make = () => x.square().to("cpu").exp().sum();
    const [grad] = await eg.autograd.gradAsync(make(), [x]);
    await make().backwardAsync();
    // 2 x exp(x^2)
    const expected = [2 * Math.E, 4 * Math.exp(4)];
    assertTensor(grad, expected, { rtol: 1e-5 });
    assertTensor(x.grad, expected, { rtol: 1e-5 });
    assert.deepEqual([grad.device, x.grad.device], ["webgpu", "webgpu"]);
  });

  test("many pending backward calls end, each with its own gradient", async () => {
    // rule: device-work-in-order
    const leaves = Array.from({ length: 20 }, (_, i) => leaf([i, 1]));
    await Promise.all(leaves.map((x) => x.square().to("cpu").sum().backwardAsync()));
    for (const [i, x] of leaves.entries()) assertTensor(x.grad, [2 * i, 2]);
  });
});

describe("operands on different devices", options, () => {
  test("join where one is a number in a tensor of the CPU", () => {
    // rule: gradient-device
    const [scalar, y] = [cpuLeaf(3), leaf([1, 2])];
    const product = scalar.mul(y);
    assert.equal(product.device, "webgpu");
    product.sum().backward();
    assertTensor(scalar.grad, [3], { shape: [] });
    assertTensor(y.grad, [3, 3]);
    assert.deepEqual([scalar.grad.device, y.grad.device], ["cpu", "webgpu"]);
  });

  test("are refused otherwise, with both devices and .to() named", () => {
    const [cpu, gpu] = [eg.ones([2, 2]), onGpu([1, 2])];
    const cases = [
      () => cpu.add(gpu),
      () => gpu.add(cpu),
      () => gpu.matmul(cpu),
      () => eg.cat([cpu, gpu.reshape(1, 2)]),
      () => gpu.add_(eg.ones([2])),
      () => eg.linear(cpu, onGpu([[1, 2]])),
      () => eg.where(gpu.gt(1), eg.ones([2]), gpu),
      // A 0-dim tensor on the device is not moved to the CPU automatically.
      () => eg.ones([2]).add(onGpu(1)),
    ];
    for (const use of cases) {
      assertThrows(use, "DeviceMismatch", /cpu/);
      assertThrows(use, "DeviceMismatch", /webgpu/);
      assertThrows(use, "DeviceMismatch", /\.to\(|to\('/);
    }
    assertTensor(gpu, [1, 2]);
  });

  test("are refused as gradients", () => {
    const x = leaf([1, 2]);
    assertThrows(
      () => x.mul(2).backward(eg.ones([2])),
      "InvalidGradient",
      /cpu.*webgpu|webgpu.*cpu/,
    );
    assertThrows(
      () => {
        x.grad = eg.ones([2]);
      },
      "DeviceMismatch",
      /cpu.*webgpu|webgpu.*cpu/,
    );
    assert.equal(x.grad, null);
  });
});

describe("what fails", options, () => {
  test("on one device while the other works is thrown once, and the next call works", async () => {
    // rule: device-error
    // In a separate process, which is ended if it hangs.
    const { status, stdout, stderr } = await runProgram(
      `import * as eg from "edgegrad";
      await eg.init({ webgpu: "required" });
      const x = eg.tensor([1, 2], { device: "webgpu", requiresGrad: true });
      const a = eg.tensor([1, 2], { requiresGrad: true });
      let long = x;
      for (let i = 0; i < 200; i++) long = long.mul(1.001);
      const broken = a.mul(2);
      broken.registerHook(() => { throw new RangeError("on the CPU"); });
      const before = eg.memory().graphNodes;
      for (const times of [1, 2]) {
        try {
          eg.autograd.backward([long.sum(), broken.sum()], { retainGraph: true });
        } catch (error) {
          console.log(times, error.name, error.message);
        }
      }
      console.log(a.grad);
      x.grad = null;
      x.square().sum().backward();
      console.log(x.grad.arraySync().join());`,
    );
    assert.equal(status, 0, stderr);
    assert.deepEqual(stdout.trim().split("\n"), [
      "1 RangeError on the CPU",
      "2 RangeError on the CPU",
      "null",
      "2,4",
    ]);
  });

  test("in a hook of the device's tensor reaches the caller as the same object", async () => {
    const thrown = { not: "even an error" };
    const make = () => {
      const y = leaf([1]).mul(2);
      y.registerHook(() => {
        throw thrown;
      });
      return y.to("cpu").sum();
    };
    const isIt = (error) => error === thrown;
    assert.throws(() => make().backward(), isIt);
    await assert.rejects(make().backwardAsync(), isIt);
  });

  test("as freed graphs, wrong shapes and missing paths does so as on the CPU", async () => {
    const x = leaf([1, 2]);
    const y = x.square().sum();
    y.backward();
    assertThrows(() => y.backward(), "GraphFreed");
    await assertRejects(y.backwardAsync(), "GraphFreed");
    assertThrows(() => x.square().backward(), "NonScalarBackward");
    assertThrows(() => onGpu([1]).sum().backward(), "NoGradPath");
    assertThrows(() => x.matmul(onGpu([1, 2, 3])), "ShapeMismatch");
    assertThrows(() => eg.autograd.grad(x.sum(), [leaf([1])]), "UnusedInput");
    assertTensor(x.grad, [2, 4]);
  });
});
