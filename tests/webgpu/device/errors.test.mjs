// Errors on the GPU are reported, with the name of the op, when the program next waits for it; and large tensors.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  assertClose,
  assertRejects,
  assertTensor,
  assertThrows,
} from "../../js/support/assert.mjs";
import { eg, onGpu, options } from "../support/engine.mjs";

const matrix = (device = "webgpu") => eg.tensor([[1, 2], [3, 4]], { device }); // biome-ignore format: a matrix
const indices = (...values) => onGpu(values.map(BigInt));

/** Programs with an index out of range. */
const kOutOfRange = {
  embedding: (x, index) => eg.embedding(index(0, 5), x),
  gather: (x, index) => x.gather(1, index(0, 5).reshape(2, 1)),
  indexSelect: (x, index) => x.indexSelect(0, index(5)),
  scatter: (x, index) => x.scatter(1, index(5, 0).reshape(2, 1), 9),
  indexAdd: (x, index) => x.indexAdd(0, index(-7), x.narrow(0, 0, 1)),
  nllLoss: (x, index) => eg.nllLoss(x, index(0, 5)),
  crossEntropy: (x, index) => eg.crossEntropy(x, index(-1, 0)),
};

describe("an index out of range", options, () => {
  for (const [name, program] of Object.entries(kOutOfRange)) {
    test(`of ${name} fails at the next read, by its name, and only there`, async () => {
      const onCpu = () => program(matrix("cpu"), (...values) => eg.tensor(values.map(BigInt)));
      const onDevice = () => program(matrix(), indices).sum();
      // "[indexSelect]", the prefix of all errors of the op.
      const [title] = /^\[\w+\]/.exec(errorOf(onCpu).message);
      const text = new RegExp(title.replaceAll(/[[\]]/g, "\\$&"));
      const result = onDevice();
      assertThrows(() => result.item(), "IndexOutOfRange", text);
      assertTensor(matrix().sum(), [10]);
      await assertRejects(onDevice().itemAsync(), "IndexOutOfRange", text);
      assertTensor(matrix().sum(), [10]);
    });
  }

  function errorOf(fn) {
    try {
      fn();
    } catch (error) {
      return error;
    }
    return assert.fail("nothing was thrown");
  }

  test("that is read with at() fails as on the CPU", () => {
    assertThrows(() => matrix().at(indices(0, 5)).sum().item(), "IndexOutOfRange", /5/);
    assertThrows(() => matrix().at(2), "IndexOutOfRange", /2/);
  });

  test("says which index it was", () => {
    assertThrows(() => matrix().indexSelect(0, indices(77)).sum().item(), "IndexOutOfRange", /77/);
  });

  test("changes nothing outside the result", () => {
    const [x, neighbor] = [matrix(), matrix()];
    assertThrows(() => x.indexSelect(0, indices(9)).mul_(0).sum().item(), "IndexOutOfRange");
    assertTensor(x, [1, 2, 3, 4]);
    assertTensor(neighbor, [1, 2, 3, 4]);
  });
});

describe("a tensor that is too large for the device", options, () => {
  test("is OutOfMemory at the call, with sizes, and what is there stays", () => {
    const row = onGpu(Array.from({ length: 1000 }, (_, i) => i));
    const huge = row.expand(1000, 1000, 1000);
    // The message contains the requested size and the maximum size.
    assertThrows(() => huge.mul(2), "OutOfMemory", /4000000000 bytes.*\d{9}/);
    assertThrows(() => huge.contiguous(), "OutOfMemory", /4000000000 bytes/);
    assert.equal(row.sum().item(), 499_500);
  });

  test("leaves the operands of a change in place as they are", () => {
    const x = onGpu([1, 2]);
    const huge = eg.ones([1], { device: "webgpu" }).expand(30_000, 30_000, 2);
    assertThrows(() => x.add_(huge), "ShapeMismatch");
    assertThrows(() => x.add(huge), "OutOfMemory");
    assertTensor(x, [1, 2]);
    assert.equal(x.version, 0);
  });
});

describe("large tensors of the device", options, () => {
  const kCount = 5_000_000;
  // 0, 1, 2, 0, 1, ..., so that sums and indices are known.
  const make = () => eg.tensor(Float32Array.from({ length: kCount }, (_, i) => i % 3)).to("webgpu");

  test("are added up to within 1e-5", async () => {
    const x = make();
    const found = await Promise.all([
      x.sum().itemAsync(),
      x.mean().itemAsync(),
      x.square().sum().itemAsync(),
      x.reshape(5, -1).sum(1).sum().itemAsync(),
    ]);
    const thirds = Math.floor(kCount / 3);
    // After the last complete group of three, 0 and 1 remain.
    const [sum, squares] = [3 * thirds + 1, 5 * thirds + 1];
    assertClose(found, [sum, sum / kCount, squares, sum], { rtol: 1e-5 });
  });

  test("say where their extremes are, the first of them in long rows", () => {
    const rows = eg.zeros([3, 100_001], { device: "webgpu" });
    rows.set_([0, 100_000], 1);
    rows.set_([1, eg.slice(70_000, 70_010)], 2);
    rows.set_([2, 5], -3);
    assertTensor(rows.argmax(1), [100_000, 70_000, 0]);
    assertTensor(rows.amax([1]), [1, 2, 0]);
    assertTensor(rows.argmin(1), [0, 0, 5]);
    assertTensor(rows.argmax(), [100_001 + 70_000]);
  });

  test("have a softmax of long rows, and its gradient", () => {
    const values = Float32Array.from({ length: 3 * 100_001 }, (_, i) => Math.sin(i) * 5);
    const of = (device) => {
      const x = eg.tensor(values, { device, shape: [3, 100_001], requiresGrad: true });
      const y = x.softmax(1);
      y.square().sum().backward();
      return [y.detach(), x.grad].map((t) => [...t.dataSync()]);
    };
    const [onCpu, found] = [of("cpu"), of("webgpu")];
    // Each of the 100,001 terms is about 1e-5; sums in different orders differ by 1e-5 relative to that.
    for (const i of [0, 1]) assertClose(found[i], onCpu[i], { rtol: 1e-5, atol: 1e-10 });
    const sums = eg
      .tensor(values, { shape: [3, 100_001], device: "webgpu" })
      .softmax(1)
      .sum(1);
    assertTensor(sums, [1, 1, 1], { rtol: 1e-5 });
  });

  test("are added up along the dimension that is not last", () => {
    const x = eg.ones([50_000, 3], { device: "webgpu" }).mul(onGpu([1, 2, 3]));
    assertTensor(x.sum(0), [50_000, 100_000, 150_000], { rtol: 1e-5 });
    assertTensor(x.cumsum(0).at(-1), [50_000, 100_000, 150_000], { rtol: 1e-5 });
  });
});
