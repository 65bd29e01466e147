// Decompositions of complex matrices, and eigenvalues of general ones: the defining equations, and gradients of quantities that
// do not depend on the arbitrary phases of a decomposition.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { makeRandom } from "../support/op_samples.mjs";

function random(shape, { seed = String(shape), dtype = "complex128", rank = null } = {}) {
  const draw = makeRandom(seed);
  const fill = (of) => {
    const count = of.reduce((a, b) => a * b, 1);
    const part = () => 4 * draw() - 2;
    const isComplex = dtype.startsWith("complex");
    const values = Array.from({ length: count }, () =>
      isComplex ? { re: part(), im: part() } : part(),
    );
    return eg.tensor(values, { shape: of, dtype });
  };
  if (rank === null) return fill(shape);
  const [rows, columns] = shape.slice(-2);
  return fill([...shape.slice(0, -2), rows, rank]).matmul(
    fill([...shape.slice(0, -2), rank, columns]),
  );
}

const adjoint = (A) => A.transpose(-2, -1).conj();
const identity = (size) => eg.eye(size, { dtype: "complex128" });

function assertSame(actual, expected, what, tolerance = 1e-10) {
  assert.deepEqual(actual.shape, expected.shape, what);
  if (actual.numel === 0) return;
  const greatest = actual.sub(expected).abs().max().item();
  assert.ok(greatest <= tolerance, `${what}: ${greatest} apart`);
}

const kMatrices = {
  "3 x 3": () => random([3, 3]),
  "5 x 3": () => random([5, 3]),
  "3 x 5": () => random([3, 5]),
  "1 x 1": () => random([1, 1]),
  "1 x 4": () => random([1, 4]),
  "4 x 1": () => random([4, 1]),
  "a batch": () => random([2, 2, 4, 3]),
  "rank 1": () => random([4, 3], { rank: 1 }),
  "rank 2, wide": () => random([3, 5], { rank: 2 }),
  zeros: () => eg.zeros([3, 2], { dtype: "complex128" }),
  identity: () => identity(4),
  "a real one": () => random([4, 4], { dtype: "float64" }).to("complex128"),
  "0 x 3": () => eg.zeros([0, 3], { dtype: "complex128" }),
  "3 x 0": () => eg.zeros([3, 0], { dtype: "complex128" }),
  "30 x 20": () => random([30, 20]),
  "huge numbers": () => random([3, 3]).mul(1e200),
  "tiny numbers": () => random([3, 3]).mul(1e-200),
};

for (const [name, make] of Object.entries(kMatrices)) {
  describe(`of ${name}`, () => {
    const run = (claim, body) => test(claim, () => eg.scope(() => body(make())));
    const scaleOf = (A) => (A.numel === 0 ? 1 : A.abs().max().item() || 1);

    run(
      "Q has orthonormal columns, R is upper triangular with a real diagonal, and Q R is A",
      (A) => {
        for (const mode of ["reduced", "complete"]) {
          const [Q, R] = eg.qr(A, mode);
          assertSame(Q.matmul(R).div(scaleOf(A)), A.div(scaleOf(A)), mode);
          const columns = identity(Q.shape.at(-1));
          assertSame(
            adjoint(Q).matmul(Q),
            columns.expand([...A.shape.slice(0, -2), ...columns.shape]),
            mode,
          );
          assertSame(R.triu(), R, mode);
          const diagonal = R.diagonal(0, -2, -1).imag();
          if (diagonal.numel > 0) assert.equal(diagonal.abs().max().item(), 0);
        }
        const [none, R] = eg.qr(A, "r");
        assert.equal(none.numel, 0);
        assertSame(R, eg.qr(A)[1], "r");
      },
    );

    run("U and V have orthonormal columns, S falls, and U S Vh is A", (A) => {
      const count = Math.min(...A.shape.slice(-2));
      for (const full of [true, false]) {
        const [U, S, Vh] = eg.svd(A, full);
        assert.equal(S.dtype, "float64");
        for (const [unitary, dim] of [
          [adjoint(U).matmul(U), U.shape.at(-1)],
          [Vh.matmul(adjoint(Vh)), Vh.shape.at(-2)],
        ]) {
          assertSame(unitary, identity(dim).expand(unitary.shape), `full ${full}`);
        }
        const first = U.narrow(-1, 0, count).mul(S.div(scaleOf(A)).unsqueeze(-2));
        assertSame(first.matmul(Vh.narrow(-2, 0, count)), A.div(scaleOf(A)), `full ${full}`);
        if (count > 1) assert.ok(S.diff().le(0).all().item());
        if (count > 0) assert.ok(S.ge(0).all().item());
      }
      assertSame(eg.svdvals(A).div(scaleOf(A)), eg.svd(A)[1].div(scaleOf(A)), "svdvals");
    });
  });
}

const kSquares = {
  "4 x 4": () => random([4, 4]),
  "a batch": () => random([2, 3, 3]),
  "1 x 1": () => random([1, 1]),
  "0 x 0": () => eg.zeros([0, 0], { dtype: "complex128" }),
  "20 x 20": () => random([20, 20]),
  identity: () => identity(3),
  zeros: () => eg.zeros([3, 3], { dtype: "complex128" }),
  "a permutation": () => identity(5).roll(1, 0),
  "a real rotation": () =>
    eg.tensor(
      [
        [0, -1],
        [1, 0],
      ],
      { dtype: "float64" },
    ),
  "a real one": () => random([6, 6], { dtype: "float64" }),
  "a real batch": () => random([3, 4, 4], { dtype: "float64" }),
  "a real one of float32": () => random([3, 3], { dtype: "float32" }),
  "huge numbers": () => random([3, 3]).mul(1e200),
};

for (const [name, make] of Object.entries(kSquares)) {
  test(`eig() of ${name} gives A V = V diag(L), with columns of length 1`, () =>
    eg.scope(() => {
      const A = make();
      const [L, V] = eg.eig(A);
      const isSingle = ["float32", "complex64"].includes(A.dtype);
      assert.equal(L.dtype, isSingle ? "complex64" : "complex128");
      assert.equal(V.dtype, L.dtype);
      assert.deepEqual([L.shape, V.shape], [A.shape.slice(0, -1), A.shape]);
      if (A.numel === 0) return;
      const scale = A.abs().max().item() || 1;
      const wide = A.to("complex128").div(scale);
      const [l, v] = [L.to("complex128").div(scale), V.to("complex128")];
      const tolerance = isSingle ? 1e-5 : 1e-9;
      assertSame(wide.matmul(v), v.mul(l.unsqueeze(-2)), "A V", tolerance);
      const lengths = v.abs().square().sum(-2);
      assertSame(lengths, eg.onesLike(lengths), "lengths", tolerance);
      assertSame(eg.eigvals(A).to("complex128").div(scale), l, "eigvals", tolerance);
    }));

  test(`eigh() of ${name} made its own adjoint gives real L that rise and orthonormal V`, () =>
    eg.scope(() => {
      const given = make();
      const A = given.add(adjoint(given)).to("complex128");
      for (const UPLO of ["L", "U"]) {
        // The other triangle must not be read.
        const half =
          UPLO === "L" ? A.tril().add(A.triu(1).mul(7)) : A.triu().add(A.tril(-1).mul(7));
        const [L, V] = eg.eigh(half, UPLO);
        assert.equal(L.dtype, "float64");
        const scale = A.numel === 0 ? 1 : A.abs().max().item() || 1;
        assertSame(V.mul(L.div(scale).unsqueeze(-2)).matmul(adjoint(V)), A.div(scale), UPLO);
        assertSame(adjoint(V).matmul(V), identity(A.shape.at(-1)).expand(A.shape), UPLO);
        if (L.shape.at(-1) > 1) assert.ok(L.diff().ge(0).all().item());
        assertSame(eg.eigvalsh(half, UPLO).div(scale), L.div(scale), "eigvalsh");
      }
    }));
}

test("the eigenvalues of matrices that are known by heart", () => {
  const sorted = (values) =>
    values
      .map(({ re, im }) => [re, im])
      .sort(([a, b], [c, d]) => a - c || b - d)
      .flat();
  const kKnown = [
    [
      [
        [2, 1],
        [0, 3],
      ],
      [2, 0, 3, 0],
    ],
    [
      [
        [0, -1],
        [1, 0],
      ],
      [0, -1, 0, 1],
    ],
    [
      [
        [1, 2],
        [3, 4],
      ],
      [(5 - Math.sqrt(33)) / 2, 0, (5 + Math.sqrt(33)) / 2, 0],
    ],
    [
      [
        [2, 1, 0],
        [0, 2, 1],
        [0, 0, 2],
      ],
      [2, 0, 2, 0, 2, 0],
    ],
  ];
  for (const [matrix, expected] of kKnown) {
    const L = eg.eigvals(eg.tensor(matrix, { dtype: "float64" }));
    assertClose(sorted(L.tolist?.() ?? L.arraySync()), expected, { atol: 1e-7 });
  }
});

describe("gradients agree with finite differences", () => {
  const options = { atol: 1e-5, rtol: 1e-3 };
  const check = (f, ...inputs) => {
    const leaves = inputs.map((input) => input.detach().requiresGrad_());
    assert.ok(eg.autograd.gradcheck(f, leaves, options));
  };
  const own = (A) => A.add(adjoint(A));
  const weights = (shape) => random(shape, { seed: `weights of ${shape}` });
  const weighted = (T) => T.mul(weights(T.shape)).sum();
  const shapes = [
    [3, 3],
    [4, 2],
    [2, 4],
    [2, 3, 2],
  ];
  for (const shape of shapes) {
    test(`qr() of [${shape}]`, () => check((A) => eg.qr(A), random(shape)));
    test(`svd() of [${shape}]`, () => {
      check((A) => {
        const [U, S, Vh] = eg.svd(A, false);
        // Where the phases cancel.
        const both = U.mul(S.exp().unsqueeze(-2)).matmul(Vh);
        return [S, weighted(both), weighted(U.matmul(adjoint(U))), U.abs(), Vh.abs()];
      }, random(shape));
      check((A) => eg.svdvals(A), random(shape));
    });
  }
  test("qr() of a square and of a wide matrix in mode 'complete'", () => {
    check((A) => eg.qr(A, "complete"), random([3, 3]));
    check((A) => eg.qr(A, "complete"), random([2, 3]));
  });
  test("eigh()", () => {
    check(
      (A) => {
        const [L, V] = eg.eigh(own(A));
        return [L, weighted(V.mul(L.exp().unsqueeze(-2)).matmul(adjoint(V))), V.abs()];
      },
      random([3, 3]),
    );
    check((A) => eg.eigvalsh(own(A)), random([2, 3, 3]));
  });
  for (const dtype of ["complex128", "float64"]) {
    test(`eig() of ${dtype}`, () => {
      const A = random([3, 3], { dtype });
      check((x) => {
        const [L, V] = eg.eig(x);
        const both = V.mul(L.unsqueeze(-2).exp()).matmul(eg.inverse(V));
        // The matrix exponential, which does not depend on the order of the eigenvalues; and lengths, which do not depend on phases.
        return [weighted(both), V.abs().pow(3).sum(), L.square().sum(), L.abs().sum()];
      }, A);
      check((x) => eg.eigvals(x).square().sum(), A);
    });
  }

  test("second derivatives", () => {
    const check2 = (f, A) => assert.ok(eg.autograd.gradgradcheck(f, [A.requiresGrad_()], options));
    check2((A) => eg.qr(A), random([2, 2]));
    check2((A) => eg.svdvals(A), random([2, 2]));
    check2((A) => eg.eigvalsh(own(A)), random([2, 2]));
    check2((A) => eg.eigvals(A).square().sum(), random([2, 2]));
  });
});

describe("what is refused", () => {
  const complex = random([3, 3]);
  test("a loss that depends on the phase of a vector", () => {
    const A = complex.detach().requiresGrad_();
    const named = /depends on the phase/;
    assertThrows(() => eg.eig(A)[1].real().sum().backward(), "NotDifferentiable", named);
    assertThrows(() => eg.svd(A)[0].imag().sum().backward(), "NotDifferentiable", named);
    assertThrows(() => eg.eigh(A)[1].real().sum().backward(), "NotDifferentiable", named);
  });
  test("matrices that are not finite or not square", () => {
    const nan = complex.mul(Number.NaN);
    const kNames = ["svd", "svdvals", "eigh", "eigvalsh", "eig", "eigvals", "cholesky"];
    const { linalg } = eg;
    for (const name of kNames) {
      for (const dtype of ["float32", "float64", "complex64", "complex128"]) {
        for (const value of [Number.NaN, Infinity]) {
          const text = new RegExp(
            `^\\[${name}\\] (matrix 1 .*: )?the matrix has .*NaN or infinite`,
          );
          const A = eg.full([3, 3], value).to(dtype);
          const batch = eg.stack([eg.eye(3), A]).to(dtype);
          for (const one of [A, batch, A.detach().requiresGrad_()]) {
            assertThrows(() => linalg[name](one), "InvalidArgument", text);
          }
        }
      }
    }
    for (const name of ["svd", "eigh", "eig"]) assertThrows(() => eg[name](nan), "InvalidArgument");
    for (const name of ["eigh", "eig", "eigvals"]) {
      assertThrows(() => eg[name](eg.zeros([2, 3], { dtype: "complex128" })), "ShapeMismatch");
    }
    assertThrows(() => eg.eig(eg.tensor([[1n]])), "DtypeMismatch");
  });
});
