// Tensor.toString() returns the same text as PyTorch, except for the "torch." of dtypes.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { eg } from "../support/engine.mjs";

const double = (data) => eg.tensor(data, { dtype: "float64" });

const kCases = [
  ["a scalar", () => eg.tensor(1.5), "tensor(1.5000)"],
  ["whole numbers", () => eg.tensor([1, 2, 3]), "tensor([1., 2., 3.])"],
  ["fractions", () => eg.tensor([1, 2.5]), "tensor([1.0000, 2.5000])"],
  ["negative numbers", () => eg.tensor([-1.25, 10]), "tensor([-1.2500, 10.0000])"],
  [
    "a matrix",
    () =>
      eg.tensor([
        [1, 2],
        [3, 4],
      ]),
    "tensor([[1., 2.],\n        [3., 4.]])",
  ],
  ["three dimensions", () => eg.ones([2, 1, 2]), "tensor([[[1., 1.]],\n\n        [[1., 1.]]])"],
  ["integers", () => eg.tensor([1n, -20n]), "tensor([  1, -20])"],
  ["booleans", () => eg.tensor([true, false]), "tensor([ True, False])"],
  ["other dtypes", () => double([1]), "tensor([1.], dtype=float64)"],
  ["a wide range", () => eg.tensor([1e-5, 1]), "tensor([1.0000e-05, 1.0000e+00])"],
  ["large whole numbers", () => eg.tensor([1e9]), "tensor([1.0000e+09])"],
  ["what is not finite", () => eg.tensor([Number.NaN, Infinity, 1]), "tensor([nan, inf, 1.])"],
  ["nothing but zero", () => eg.zeros([2]), "tensor([0., 0.])"],
  ["no elements", () => eg.zeros([0]), "tensor([])"],
  ["no elements in two dimensions", () => eg.zeros([2, 0]), "tensor([], size=(2, 0))"],
  ["no integers", () => eg.zeros([0], { dtype: "int64" }), "tensor([], dtype=int64)"],
  ["ties, to the even digit", () => eg.tensor([0.03125, 0.09375]), "tensor([0.0312, 0.0938])"],
  ["complex numbers", () => eg.tensor([{ re: 1, im: -2.5 }]), "tensor([1.-2.5000j])"],
  [
    "a leaf that requires a gradient",
    () => eg.tensor([1], { requiresGrad: true }),
    "tensor([1.], requires_grad=True)",
  ],
  [
    "the node that computed it",
    () => eg.tensor([1], { requiresGrad: true }).add(1),
    "tensor([2.], grad_fn=<AddBackward0>)",
  ],
  [
    "a view",
    () =>
      eg
        .tensor([
          [1, 2],
          [3, 4],
        ])
        .transpose(0, 1),
    "tensor([[1., 3.],\n        [2., 4.]])",
  ],
];

describe("toString", () => {
  for (const [name, make, text] of kCases) {
    test(`prints ${name}`, () => assert.equal(String(make()), text));
  }

  test("breaks long rows", () => {
    const lines = String(eg.ones([30])).split("\n");
    assert.equal(lines.length, 2);
    assert.equal(lines[0], `tensor([${Array(18).fill("1.").join(", ")},`);
    assert.match(lines[1], /^ {8}1\., /);
  });

  test("summarizes more than 1000 elements", () => {
    assert.equal(
      String(eg.arange(2000, { dtype: "int64" })),
      "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])",
    );
    const lines = String(eg.zeros([100, 100])).split("\n");
    assert.equal(lines.length, 7);
    assert.equal(lines[0], "tensor([[0., 0., 0.,  ..., 0., 0., 0.],");
    assert.equal(lines[3], "        ...,");
  });

  test("summarizes more elements than an array of JavaScript can have", () => {
    const row = "[5., 5., 5.,  ..., 5., 5., 5.]";
    const wide = eg.full([1], 5).expand(2 ** 32);
    assert.equal(String(wide), `tensor(${row})`);
    assert.equal(
      String(wide.reshape(1, -1).expand(2, 2 ** 32)),
      `tensor([${row},\n        ${row}])`,
    );
  });

  test("puts a long suffix on a line of its own", () => {
    const x = eg.ones([15], { dtype: "float64", requiresGrad: true });
    assert.match(String(x), /,\n {7}dtype=float64, requires_grad=True\)$/);
  });

  test("marks a parameter", () => {
    const text = String(new eg.nn.Parameter(eg.ones([1])));
    assert.equal(text, "Parameter containing:\ntensor([1.], requires_grad=True)");
  });

  test("is what Node's console shows, also after dispose()", () => {
    const x = eg.ones([2]);
    assert.equal(inspect(x), "tensor([1., 1.])");
    x.dispose();
    assert.equal(inspect(x), "tensor(disposed)");
  });
});
