// linear() and embedding() with weights of half precision, which are not converted as a whole.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg } from "../support/engine.mjs";

const kClose = { rtol: 0.01, atol: 0.02 };

for (const dtype of ["bfloat16", "float16"]) {
  describe(`weights of ${dtype}`, () => {
    test("multiply like their float32 numbers, for few rows and many, and so do gradients", () => {
      eg.manualSeed(4);
      for (const [count, columns, rows] of [
        [1, 40, 9],
        [3, 33, 6],
        [7, 70, 40],
      ]) {
        const weight = eg.randn([rows, columns]).to(dtype);
        const bias = eg.randn([rows]).to(dtype).requiresGrad_();
        const x = eg.randn([count, columns]).to(dtype).requiresGrad_();
        const y = eg.linear(x, weight, bias);
        const expected = eg.linear(x.float(), weight.float(), bias.float()).to(dtype);
        assert.equal(y.dtype, dtype);
        eg.testing.assertClose(y.float(), expected.float(), kClose);
        const g = eg.randn([count, rows]).to(dtype);
        const [dx, db] = eg.autograd.grad([y], [x, bias], { gradOutputs: [g] });
        const [wx, wb] = eg.autograd.grad([expected], [x, bias], { gradOutputs: [g] });
        assert.deepEqual([dx.dtype, db.dtype], [dtype, dtype]);
        eg.testing.assertClose(dx.float(), wx.float(), kClose);
        eg.testing.assertClose(db.float(), wb.float(), kClose);
      }
    });

    test("keep the dtypes of mixed operands", () => {
      const weight = eg.ones([2, 3]).to(dtype);
      const bias = eg.ones([2]);
      assert.equal(eg.linear(eg.ones([1, 3]), weight).dtype, "float32");
      assert.equal(eg.linear(eg.ones([1, 3]).to(dtype), weight, bias).dtype, "float32");
      const cast = eg.autocast(() => eg.linear(eg.ones([1, 3]), eg.ones([2, 3])), { dtype });
      assert.equal(cast.dtype, dtype);
    });

    test("have gradients where they are trained", () => {
      const weight = eg.ones([2, 3]).to(dtype).requiresGrad_();
      const x = eg.tensor([[1, 2, 3]]).to(dtype);
      eg.linear(x, weight).sum().backward();
      assert.deepEqual(weight.grad.float().tolist(), [
        [1, 2, 3],
        [1, 2, 3],
      ]);
    });

    test("need no float32 copy", () => {
      const [rows, columns] = [1024, 1024];
      // As a parameter of a model that generates.
      const weight = eg.ones([rows, columns]).to(dtype).requiresGrad_();
      const x = eg.ones([1, columns]).to(dtype);
      const ids = eg.tensor([3], { dtype: "int64" });
      const most = () => eg.memory().cpuPeakBytes;
      // A tensor that is as large as the peak so far, so that what follows would raise it.
      const room = eg.zeros([Math.ceil((most() - eg.memory().cpuBytes) / 4)]);
      const before = most();
      eg.noGrad(() => eg.scope(() => void [eg.linear(x, weight), eg.embedding(ids, weight)]));
      assert.ok(most() - before < rows * columns, `${most() - before}`);
      room.dispose();
    });

    test("give rows, whose gradients are added", () => {
      const weight = eg
        .tensor([
          [1, 2],
          [3, 4],
          [5, 6],
        ])
        .to(dtype)
        .requiresGrad_();
      const ids = eg.tensor([2, 0, 2], { dtype: "int64" });
      const rows = eg.embedding(ids, weight);
      assert.equal(rows.dtype, dtype);
      assert.deepEqual(rows.float().tolist(), [
        [5, 6],
        [1, 2],
        [5, 6],
      ]);
      rows.sum().backward();
      assert.equal(weight.grad.dtype, dtype);
      assert.deepEqual(weight.grad.float().tolist(), [
        [1, 1],
        [0, 0],
        [2, 2],
      ]);
    });
  });
}
