// setDefaultDtype(): the dtype of floating-point tensors for which none is given.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

describe("the default dtype", () => {
  const withDefault = (dtype, run) => {
    eg.setDefaultDtype(dtype);
    try {
      eg.scope(run);
    } finally {
      eg.setDefaultDtype("float32");
    }
  };

  test("is float32, and has to be one of floats", () => {
    assert.equal(eg.getDefaultDtype(), "float32");
    assertThrows(() => eg.setDefaultDtype("int32"), "InvalidArgument", /setDefaultDtype/);
    assert.equal(eg.getDefaultDtype(), "float32");
  });

  for (const dtype of ["float64", "float16", "bfloat16"])
    test(`${dtype} is that of all that is given none`, () =>
      withDefault(dtype, () => {
        assert.equal(eg.getDefaultDtype(), dtype);
        const kMade = {
          zeros: () => eg.zeros([2]),
          ones: () => eg.ones([2]),
          empty: () => eg.empty([2]),
          full: () => eg.full([2], 1.5),
          fullOfWhole: () => eg.full([2], 1),
          eye: () => eg.eye(2),
          rand: () => eg.rand([2]),
          randn: () => eg.randn([2]),
          linspace: () => eg.linspace(0, 1, 3),
          arange: () => eg.arange(0, 1, 0.5),
          tensor: () => eg.tensor([1, 2.5]),
          mixed: () => eg.tensor([true, 2.5]),
          number: () => eg.tensor(3),
          weight: () => new eg.nn.Linear(2, 2).weight,
          embedding: () => new eg.nn.Embedding(2, 2).weight,
          norm: () => new eg.nn.BatchNorm1d(2).running_mean,
          division: () => eg.arange(3).div(2),
          root: () => eg.arange(3).sqrt(),
          product: () => eg.arange(3).mul(0.5),
          normal: () => eg.normal(0, 1, [3]),
          window: () => eg.hannWindow(4),
        };
        for (const [name, make] of Object.entries(kMade)) assert.equal(make().dtype, dtype, name);
        assert.equal(eg.arange(3).dtype, "int64");
        assert.equal(eg.tensor(new Float32Array(2)).dtype, "float32");
        assert.equal(eg.ones([2], { dtype: "float32" }).mul(0.5).dtype, "float32");
        const kComplex = { float64: "complex128", float16: "complex32", bfloat16: "complex64" };
        const complex = kComplex[dtype];
        assert.equal(eg.tensor([{ re: 1, im: 2 }]).dtype, complex);
        assert.equal(eg.finfo().dtype, dtype);
        assert.ok(!String(eg.ones([2])).includes("dtype"));
        assert.ok(String(eg.ones([2], { dtype: "float32" })).includes("dtype=float32"));
      }));
});
