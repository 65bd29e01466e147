// Sparse tensors on the device: their products and gradients are those of the CPU, and stay there.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose } from "../../js/support/assert.mjs";
import { eg, onBoth, options } from "../support/engine.mjs";

const kIndices = [
  [2, 0, 1, 0, 2],
  [1, 3, 0, 3, 2],
];
const kValues = [1.5, -2, 3, 0.5, 4];

const matrix = (device, values = eg.tensor(kValues, { device })) =>
  eg.sparseCooTensor(kIndices, values, [3, 4]);
const dense = (device, shape, options) =>
  eg
    .arange(shape[0] * shape[1], { device, dtype: "float32" })
    .mul(0.37)
    .sin()
    .view(shape)
    .detach()
    .requiresGrad_(options?.requiresGrad ?? false);

const kPrograms = {
  "a sparse matrix times a dense one, and its gradients": (device) => {
    const values = eg.tensor(kValues, { device, requiresGrad: true });
    const right = dense(device, [4, 5], { requiresGrad: true });
    const product = matrix(device, values).matmul(right);
    product.mul(product).sum().backward();
    return [product, values.grad, right.grad];
  },
  "a dense matrix times a sparse one": (device) => {
    const left = dense(device, [2, 3], { requiresGrad: true });
    const product = left.matmul(matrix(device).toSparseCsr());
    product.mul(product).sum().backward();
    return [product, left.grad];
  },
  "chosen elements of a product": (device) => {
    const left = dense(device, [3, 6], { requiresGrad: true });
    const right = dense(device, [6, 4], { requiresGrad: true });
    const chosen = eg.sparse.sampledAddmm(matrix(device), left, right).toDense();
    chosen.mul(chosen).sum().backward();
    return [chosen, left.grad, right.grad];
  },
  "a sum of sparse and dense": (device) => [
    dense(device, [3, 4]).add(matrix(device)),
    matrix(device)
      .mul(dense(device, [3, 4]))
      .toDense(),
    matrix(device).toSparseCsr().toDense(),
  ],
  "training a table by its rows": (device) => {
    const table = new eg.nn.Parameter(dense(device, [6, 3]));
    const optimizer = new eg.optim.SparseAdam([table], { lr: 0.1 });
    for (const at of [
      [0, 2, 2],
      [5, 2, 1],
    ]) {
      optimizer.zeroGrad();
      const ids = eg.tensor(at, { dtype: "int64", device });
      const rows = eg.nn.functional.embedding(ids, table, { sparse: true });
      rows.mul(rows).sum().backward();
      assert.equal(table.grad.device, device);
      optimizer.step();
    }
    return [table];
  },
};

describe("sparse tensors on the device", options, () => {
  for (const [name, program] of Object.entries(kPrograms)) {
    test(name, async () => {
      const { cpu, gpu } = await onBoth((device) =>
        program(device).map((tensor) => {
          assert.equal(tensor.device, device);
          return tensor.detach().dataSync();
        }),
      );
      gpu.forEach((found, i) => {
        assertClose(found, cpu[i], { rtol: 1e-5, atol: 1e-5 });
      });
    });
  }

  test("move with their parts", () => {
    const x = matrix("cpu").to("webgpu");
    assert.equal(x.device, "webgpu");
    assert.equal(x.coalesce().indices().device, "webgpu");
    assert.deepEqual(x.to("cpu").toDense().arraySync()[0], [0, 0, 0, -1.5]);
  });
});
