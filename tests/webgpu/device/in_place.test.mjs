// Views and in-place changes of tensors on the device: memory, versions and errors match the CPU's.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../../js/support/assert.mjs";
import { eg, leaf, onBoth, onGpu, options } from "../support/engine.mjs";

const kMatrix = [
  [1, 2, 3],
  [4, 5, 6],
];

describe("a view on the device", options, () => {
  test("shares memory and version with its base", () => {
    const base = onGpu(kMatrix);
    const row = base.at(1);
    const column = base.t().at(2);
    assert.ok(row.isView && row.base.device === "webgpu");
    row.mul_(10);
    column.add_(0.5);
    assertTensor(base, [1, 2, 3.5, 40, 50, 60.5]);
    assertTensor(column, [3.5, 60.5]);
    assert.deepEqual([base.version, row.version, column.version], [2, 2, 2]);
  });

  test("may be written to at indices", () => {
    const x = eg.zeros([3, 4], { device: "webgpu" });
    x.set_([1, eg.slice(0, 4, 2)], onGpu([7, 8]));
    x.set_([eg.slice(2, 3)], 5);
    x.set_([onGpu([true, false, false])], -1);
    assertTensor(x, [-1, -1, -1, -1, 7, 0, 8, 0, 5, 5, 5, 5]);
  });

  test("takes gradients through a change of a part of its base", async () => {
    const { cpu, gpu } = await onBoth((device) => {
      const x = eg.tensor(kMatrix, { device, requiresGrad: true });
      const y = x.mul(2);
      y.at(0).mul_(3);
      y.narrow(1, 1, 2).tanh_();
      y.square().sum().backward();
      return [...x.grad.dataSync()];
    });
    assertTensor(eg.tensor(gpu), cpu, { rtol: 1e-5 });
  });

  test("may be changed where it overlaps itself as little as on the CPU", () => {
    const x = onGpu([1, 2]);
    assertThrows(() => x.expand(3, 2).add_(1), "InvalidArgument", /one memory location/);
    const line = onGpu([1, 2, 3, 4]);
    const shift = () => line.narrow(0, 1, 3).copy_(line.narrow(0, 0, 3));
    assertThrows(shift, "InvalidArgument", /overlaps the memory/);
    assertTensor(line, [1, 2, 3, 4]);
  });
});

/** The code and message of the error that a program throws on each device, or nothing. */
async function failuresOf(program) {
  const { cpu, gpu } = await onBoth((device) => {
    try {
      program(device);
    } catch (error) {
      return { code: error.code, message: error.message.replaceAll(device, "DEVICE") };
    }
  });
  assert.ok(cpu, "fails on the CPU");
  return { cpu, gpu };
}

describe("a change in place on the device", options, () => {
  const make = (device) => eg.tensor(kMatrix, { device, requiresGrad: true });
  const kPrograms = {
    ModifiedInPlace: (device) => {
      const y = make(device).exp();
      y.at(0).mul_(2);
      y.sum().backward();
    },
    LeafInPlace: (device) => make(device).add_(1),
    ViewInPlace: (device) => make(device).mul(2).unbind()[0].add_(1),
    InferenceTensor: (device) => {
      const x = eg.inferenceMode(() => eg.ones([2], { device }));
      x.add_(1);
    },
    ShapeMismatch: (device) => eg.ones([2], { device }).add_(eg.ones([3], { device })),
    DtypeMismatch: (device) =>
      eg.ones([2], { device, dtype: "int32" }).add_(eg.full([2], 0.5, { device })),
  };
  for (const [code, program] of Object.entries(kPrograms)) {
    test(`that is wrong fails as on the CPU: ${code}`, async () => {
      const { cpu, gpu } = await failuresOf(program);
      assert.equal(cpu.code, code);
      assert.deepEqual(gpu, cpu);
    });
  }

  test("that fails leaves its operands as they were", () => {
    const x = onGpu([1, 2]);
    assertThrows(() => x.add_(onGpu([1, 2, 3])), "ShapeMismatch");
    assertThrows(() => x.copy_(eg.ones([5])), "ShapeMismatch");
    assertTensor(x, [1, 2]);
    assert.equal(x.version, 0);
  });

  test("between devices is copy_, which is differentiable both ways", () => {
    const source = eg.tensor([1, 2], { requiresGrad: true });
    const target = eg.zeros([2], { device: "webgpu" });
    target.copy_(source.mul(3));
    const back = eg.zeros([2]);
    back.copy_(target.mul(2));
    back.sum().backward();
    assertTensor(back.detach(), [6, 12]);
    assertTensor(source.grad, [6, 6]);
    assert.equal(source.grad.device, "cpu");
  });

  test("under noGrad changes a leaf", () => {
    const x = leaf([1, 2]);
    eg.noGrad(() => x.sub_(0.5));
    assertTensor(x.detach(), [0.5, 1.5]);
    assert.ok(x.requiresGrad && x.isLeaf);
  });
});
