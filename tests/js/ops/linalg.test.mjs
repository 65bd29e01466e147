// Decompositions: results as arrays, options, gradients, errors.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kDouble = { dtype: "float64" };
const kLeaf = { ...kDouble, requiresGrad: true };
const { gradcheck, gradgradcheck } = eg.autograd;

function leaf(...shape) {
  return eg.rand(shape, kDouble).sub(0.5).detach().requiresGrad_();
}

describe("systems by the factors of luFactor()", () => {
  for (const dtype of ["float64", "complex128"]) {
    test(`are those of the matrix, from either side and of its adjoint: ${dtype}`, () => {
      eg.manualSeed(4);
      const [a, b, c] = [
        [2, 3, 3],
        [2, 3, 2],
        [2, 4, 3],
      ].map((shape) => eg.randn(shape, { dtype }));
      const factors = eg.luFactor(a);
      const isClose = (x, y) => assert.ok(eg.allclose(x, y, { rtol: 0, atol: 1e-11 }));
      isClose(a.matmul(eg.luSolve(...factors, b)), b);
      isClose(a.mH.matmul(eg.luSolve(...factors, b, { adjoint: true })), b);
      isClose(eg.luSolve(...factors, c, false).matmul(a), c);
      isClose(eg.luSolve(...factors, c, false, true).matmul(a.mH), c);
    });
  }

  test("have gradients, those of the adjoint too", () => {
    eg.manualSeed(5);
    const lu = eg.randn([2, 2], { dtype: "complex128" }).requiresGrad_();
    const b = eg.randn([2, 1], { dtype: "complex128" }).requiresGrad_();
    const pivots = eg.tensor([2, 2], { dtype: "int32" });
    for (const adjoint of [false, true])
      assert.ok(gradcheck((...of) => eg.luSolve(of[0], pivots, of[1], { adjoint }), [lu, b]));
  });

  test("refuse what does not fit", () => {
    const [lu, pivots] = eg.luFactor(eg.eye(3));
    assert.throws(() => eg.luSolve(lu, pivots, eg.ones([2, 1])), {
      code: "ShapeMismatch",
      message: /luSolve.*B: expected the shape \[\.\.\., 3, k\], got \[2,1\]/,
    });
    assert.throws(() => eg.luSolve(lu, eg.ones([3]), eg.ones([3, 1])), /pivots: expected whole/);
    assert.throws(() => eg.luSolve(lu, pivots.narrow(0, 0, 2), eg.ones([3, 1])), /pivots/);
  });
});

describe("determinants of complex matrices", () => {
  const complexOf = (rows) =>
    eg.complex(
      eg.tensor(
        rows.map((row) => row.map(([re]) => re)),
        kDouble,
      ),
      eg.tensor(
        rows.map((row) => row.map(([, im]) => im)),
        kDouble,
      ),
    );

  test("are a sign on the unit circle and a magnitude", () => {
    // The determinant is (1 + i)(5) - (2)(3 + i) = -1 + 3i.
    const a = complexOf([
      [
        [1, 1],
        [2, 0],
      ],
      [
        [3, 1],
        [5, 0],
      ],
    ]);
    const [sign, size] = eg.slogdet(a);
    const length = Math.sqrt(10);
    assertTensor(sign, [-1 / length, 3 / length], { rtol: 0, atol: 1e-15 });
    assertTensor(size, [Math.log(length)], { rtol: 0, atol: 1e-15 });
    assertTensor(a.slogdet()[1], size.dataSync());
    assertTensor(eg.logdet(a), [Math.log(length), Math.atan2(3, -1)], { rtol: 0, atol: 1e-15 });
    const [zero, none] = eg.slogdet(
      complexOf([
        [
          [0, 1],
          [1, 0],
        ],
        [
          [0, 2],
          [2, 0],
        ],
      ]),
    );
    assertTensor(zero, [0, 0]);
    assert.equal(none.item(), Number.NEGATIVE_INFINITY);
  });
});

describe("orders of norm() by name", () => {
  test("are those of the function, as a method too", () => {
    const x = eg.tensor(
      [
        [3, 0],
        [0, 4],
      ],
      kDouble,
    );
    assert.equal(x.norm("fro").item(), 5);
    assert.equal(x.norm("nuc").item(), 7);
    assert.equal(x.norm({ p: "nuc", keepdim: true }).shape.length, 2);
    assert.deepEqual(x.norm(1, 0).arraySync(), [3, 4]);
    assert.throws(() => x.norm("max"), { code: "InvalidArgument" });
  });
});

describe("decompositions", () => {
  test("multiply to the original matrix, in every mode", () => {
    eg.manualSeed(1);
    const a = eg.randn([2, 4, 3], kDouble);
    for (const mode of ["reduced", "complete"]) {
      const [q, r] = a.qr(mode);
      assertTensor(q.matmul(r), a.dataSync(), { rtol: 0, atol: 1e-12 });
    }
    assert.deepEqual(eg.qr(a, { mode: "r" })[0].shape, [0]);
    const [u, s, vh] = eg.svd(a, { fullMatrices: false });
    assertTensor(u.mul(s.unsqueeze(-2)).matmul(vh), a.dataSync(), { rtol: 0, atol: 1e-12 });
    assert.deepEqual(eg.svd(a)[0].shape, [2, 4, 4]);
    const gram = a.transpose(-1, -2).matmul(a);
    const [values, vectors] = eg.eigh(gram, "U");
    const product = vectors.mul(values.unsqueeze(-2)).matmul(vectors.transpose(-1, -2));
    assertTensor(product, gram.dataSync(), { rtol: 0, atol: 1e-11 });
    assertTensor(values.flip(-1).sqrt(), a.svdvals().dataSync(), { rtol: 1e-9, atol: 1e-9 });
  });

  test("pass gradcheck and gradgradcheck", () => {
    eg.manualSeed(2);
    const checks = [
      [(x) => x.qr(), leaf(4, 3)],
      [(x) => x.svd(false).map((part) => part.abs()), leaf(3, 2)],
      [(x) => eg.eigvalsh(x.add(x.t())), leaf(3, 3)],
      [(x) => x.pinv(), leaf(2, 3)],
    ];
    for (const [f, x] of checks) {
      assert.equal(gradcheck(f, [x]), true);
      assert.equal(gradgradcheck(f, [x]), true);
    }
    const both = [leaf(4, 2), leaf(4)];
    assert.equal(
      gradcheck((a, b) => eg.lstsq(a, b)[0], both),
      true,
    );
  });

  test("are nodes with PyTorch's names, and refuse a matrix that is not square", () => {
    const a = eg.tensor([[1, 2]], kLeaf);
    assert.equal(eg.svd(a)[1].gradFn.name, "LinalgSvdBackward0");
    assert.equal(eg.qr(a)[0].gradFn.name, "LinalgQrBackward0");
    assert.throws(() => eg.eigh(a), {
      code: "ShapeMismatch",
      message: /A must be square, got 1x2 matrices/,
    });
    assert.throws(() => eg.qr(a, "thin"), { code: "InvalidArgument", message: /"reduced"/ });
  });
});

describe("products", () => {
  test("tensordot sums what a size of 1 meets, as broadcasting has it", () => {
    const column = eg.tensor([[2], [3]], kLeaf);
    const table = eg.tensor(
      [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
      kLeaf,
    );
    const results = { leftIsOne: [column, table], rightIsOne: [table.t(), column.t()] };
    for (const [what, [a, b]] of Object.entries(results)) {
      const product = eg.tensordot(a, b, [[1], [0]]);
      assertTensor(product, what === "leftIsOne" ? [18, 24, 27, 36] : [18, 27, 24, 36], { what });
      assert.ok(eg.autograd.gradcheck((x, y) => eg.tensordot(x, y, [[1], [0]]), [a, b]));
    }
    assert.throws(() => eg.tensordot(table, table, [[1], [0]]), { code: "ShapeMismatch" });
  });

  test("householderProduct of no reflections has a gradient for tau", () => {
    const tau = eg.ones([2, 0], kLeaf);
    const product = eg.householderProduct(eg.ones([2, 3, 1], kDouble), tau);
    assertTensor(product, [1, 0, 0, 1, 0, 0]);
    assert.deepEqual(eg.autograd.grad([product.sum()], [tau])[0].shape, [2, 0]);
  });
});

describe("complex matrices", () => {
  const complex = (re, im) => eg.complex(eg.tensor(re, kDouble), eg.tensor(im, kDouble));

  test("are refused where real ones are", () => {
    const wide = complex([[1, 2]], [[0, 1]]);
    for (const name of ["inverse", "det", "slogdet", "cholesky"]) {
      assert.throws(() => eg[name](wide), { code: "ShapeMismatch", message: /must be square/ });
    }
    const square = complex(
      [
        [1, 2],
        [2, 4],
      ],
      [
        [0, 0],
        [0, 0],
      ],
    );
    assert.throws(() => eg.inverse(square), { code: "InvalidArgument", message: /singular/ });
    assert.throws(() => eg.solve(square, wide), { code: "ShapeMismatch", message: /AX = B/ });
    assert.throws(() => eg.solve(square, eg.ones([2], kDouble)), { code: "DtypeMismatch" });
    assert.throws(() => eg.lu(square, false), { code: "InvalidArgument", message: /pivot: false/ });
  });

  test("give products back, whole batches and without elements", () => {
    eg.manualSeed(3);
    const a = complex(eg.randn([2, 3, 3]).tolist(), eg.randn([2, 3, 3]).tolist());
    const [p, l, u] = eg.lu(a);
    assert.ok(eg.allclose(p.matmul(l).matmul(u), a));
    assert.ok(eg.allclose(eg.det(a.matmul(a)), eg.det(a).mul(eg.det(a))));
    const gram = a.matmul(eg.adjoint(a));
    const factor = eg.cholesky(gram);
    assert.ok(eg.allclose(factor.matmul(eg.adjoint(factor)), gram));
    assert.ok(eg.allclose(eg.cholesky(gram, true), eg.adjoint(factor)));
    assert.deepEqual(eg.inverse(a.narrow(0, 0, 0)).shape, [0, 3, 3]);
    assert.deepEqual(eg.det(complex([], []).reshape([0, 0])).item(), { re: 1, im: 0 });
  });
});

test("methods of complex matrices are what the functions are", () => {
  const A = eg.complex(
    eg.tensor([
      [1, 0],
      [3, 1],
    ]),
    eg.tensor([
      [2, 1],
      [0, -1],
    ]),
  );
  const b = eg.complex(eg.ones([2, 1]), eg.zeros([2, 1]));
  const same = (own, other) => assert.deepEqual(own.tolist(), other.tolist());
  same(A.inverse(), eg.inverse(A));
  same(A.det(), eg.det(A));
  same(A.pinv(), eg.pinv(A));
  same(A.solve(b), eg.solve(A, b));
  same(A.slogdet()[0], eg.slogdet(A)[0]);
  same(A.lu()[2], eg.lu(A)[2]);
  same(A.luFactor()[0], eg.luFactor(A)[0]);
  same(A.tril().solveTriangular(b, false), eg.solveTriangular(A.tril(), b, false));
  const positive = A.matmul(A.mH);
  same(positive.cholesky(), eg.cholesky(positive));
});

describe("matrixExp()", () => {
  const bad = [4, 1e-8, 0, 1e8, 3, 1e-8, 0, 1e8, 2];
  const exact = [
    77.46934395063745, 4.45653684051312e-7, 1.281843862231858e-15, 4456536840.51312,
    45.72241416782482, 1.892849116049404e-7, 1.281843862231858e17, 1892849116.049404,
    13.9754843850122,
  ];

  test("is that of the balanced matrix, in every dtype and in batches", () => {
    for (const [dtype, rtol] of [
      ["float64", 1e-14],
      ["complex128", 1e-14],
      ["float32", 1e-5],
    ]) {
      const a = eg.tensor(bad, { dtype }).reshape([1, 3, 3]).expand(2, 3, 3);
      const powers = eg.matrixExp(a.mul(eg.tensor([1, 0]).reshape([2, 1, 1])));
      const [power, identity] = powers.unbind();
      assert.ok(eg.allclose(power, eg.tensor(exact, { dtype }).reshape([3, 3]), { rtol, atol: 0 }));
      assert.ok(eg.equal(identity, eg.eye(3, { dtype })));
    }
  });

  test("has the gradient of the matrix itself", () => {
    // exp(a)[0][0] depends on the product of the two outer elements alone.
    const x = eg.tensor([0, 1e-6, 1e6, 0], kLeaf);
    eg.matrixExp(x.reshape([2, 2]))
      .at(0, 0)
      .backward();
    const slope = Math.sinh(1) / 2;
    assertTensor(x.grad.narrow(0, 1, 2), [slope * 1e6, slope * 1e-6], { rtol: 1e-13, atol: 0 });
    const half = eg.tensor([0, 64, 2 ** -6, 0], { dtype: "float16" }).reshape([2, 2]);
    assert.ok(Math.abs(eg.matrixExp(half).at(0, 0).item() - Math.cosh(1)) < 2e-3);
  });

  test("of what is not finite has no error", () => {
    assert.ok(
      Number.isNaN(
        eg
          .matrixExp(
            eg.tensor([
              [NaN, 1],
              [1, 0],
            ]),
          )
          .at(0, 0)
          .item(),
      ),
    );
  });
});
