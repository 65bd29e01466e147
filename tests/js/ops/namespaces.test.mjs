// eg.linalg, eg.special and eg.fft, as in torch. Their functions are the top-level ones, except for those that torch.linalg
// defines differently.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

/**
 * The functions that PyTorch 2.6 documents, and those of them that do not exist here; `alone` are functions that are in the namespace only,
 * whether documented or not.
 */
const kNamespaces = {
  linalg: {
    names: `norm vectorNorm matrixNorm diagonal det slogdet cond matrixRank cholesky qr eig eigvals eigh eigvalsh svd svdvals
      solve solveTriangular luFactor lu luSolve lstsq inv pinv matrixExp matrixPower cross matmul vecdot multiDot
      householderProduct tensorinv tensorsolve vander choleskyEx invEx solveEx luFactorEx ldlFactor ldlFactorEx ldlSolve`,
    missing: "ldlFactor ldlFactorEx ldlSolve",
    alone: "choleskyEx invEx solveEx luFactorEx",
  },
  special: {
    names: `airyAi besselJ0 besselJ1 digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammainc gammaincc gammaln i0 i0e i1
      i1e log1p logNdtr logSoftmax logit logsumexp multigammaln ndtr ndtri polygamma psi round scaledModifiedBesselK0
      scaledModifiedBesselK1 sinc softmax sphericalBesselJ0 xlog1py xlogy zeta`,
    missing: "",
    alone: `airyAi besselJ0 besselJ1 besselY0 besselY1 modifiedBesselK0 modifiedBesselK1 scaledModifiedBesselK0
      scaledModifiedBesselK1 sphericalBesselJ0 modifiedBesselI0 modifiedBesselI1 hermitePolynomialH hermitePolynomialHe laguerrePolynomialL legendrePolynomialP
      chebyshevPolynomialT chebyshevPolynomialU chebyshevPolynomialV chebyshevPolynomialW shiftedChebyshevPolynomialT
      shiftedChebyshevPolynomialU shiftedChebyshevPolynomialV shiftedChebyshevPolynomialW`,
  },
  masked: {
    names: "",
    missing: "",
    alone: `sum prod cumsum cumprod amax amin argmax argmin logsumexp mean median norm var std softmax logSoftmax softmin
      normalize logaddexp`,
  },
  fft: {
    names: `fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft hfft2 ihfft2 hfftn ihfftn fftfreq
      rfftfreq fftshift ifftshift`,
    missing: "",
  },
};

const words = (text) => text.split(/\s+/).filter((word) => word !== "");

// Functions that have a different name at the top level.
const kOtherNames = { inv: "inverse", expit: "sigmoid", gammaln: "lgamma", psi: "digamma" };
const kOtherMeaning = ["linalg.norm", "linalg.diagonal", "linalg.vander"];

for (const [namespace, { names, missing, alone = "" }] of Object.entries(kNamespaces)) {
  describe(`eg.${namespace}`, () => {
    test("has the functions that PyTorch documents, but for those known to be missing", () => {
      const documented = words(names).filter((name) => !words(missing).includes(name));
      const expected = new Set([...documented, ...words(alone)]);
      const found = Object.keys(eg[namespace]);
      assert.deepEqual(found.sort(), [...expected].sort());
      for (const name of found) assert.equal(typeof eg[namespace][name], "function", name);
    });

    test("has the plain functions, but for those of another meaning", () => {
      for (const [name, own] of Object.entries(eg[namespace])) {
        const path = `${namespace}.${name}`;
        if (path === "fft.fft" || words(alone).includes(name)) continue;
        const plain = eg[kOtherNames[name] ?? name];
        if (kOtherMeaning.includes(path)) assert.notEqual(own, plain, path);
        else assert.equal(own, plain, path);
      }
    });
  });
}

test("eg.signal.windows has PyTorch's windows", () => {
  const names = `bartlett blackman cosine exponential gaussian generalCosine generalHamming hamming hann kaiser nuttall`;
  assert.deepEqual(Object.keys(eg.signal), ["windows"]);
  assert.deepEqual(Object.keys(eg.signal.windows).sort(), words(names));
  assertThrows(
    () => eg.signal.windows.exponential(4, { center: 1 }),
    "InvalidArgument",
    /sym: false/,
  );
  assertThrows(() => eg.signal.windows.gaussian(4, { std: 0 }), "InvalidArgument", /std: expected/);
  assertThrows(
    () => eg.signal.windows.generalCosine(4, { a: 1 }),
    "InvalidArgument",
    /a: expected/,
  );
  assertThrows(() => eg.signal.windows.hann(-1), "InvalidArgument", /0 or more, got -1/);
});

test("eg.masked refuses masks that do not broadcast to the input", () => {
  const [x, mask] = [eg.ones([2, 3]), eg.ones([2, 2, 3], { dtype: "bool" })];
  assertThrows(() => eg.masked.sum(x, { mask }), "ShapeMismatch", /at most 2 dimensions/);
  const narrow = eg.ones([2], { dtype: "bool" });
  assertThrows(() => eg.masked.mean(x, { mask: narrow }), "ShapeMismatch", /\[masked.mean\]/);
  const none = eg.zeros([2, 3], { dtype: "bool" });
  const numbers = eg.ones([2, 3], { dtype: "int32" });
  assertThrows(() => eg.masked.median(numbers, { mask: none }), "InvalidArgument", /no element/);
  assertThrows(
    () => eg.masked.amax(eg.ones([2], { dtype: "complex64" }), { mask: narrow }),
    "DtypeMismatch",
  );
});

test("svdLowrank and pcaLowrank find a matrix of low rank", () => {
  eg.manualSeed(3);
  const A = eg.randn([20, 3], { dtype: "float64" }).matmul(eg.randn([3, 12], { dtype: "float64" }));
  for (const matrix of [A, A.t()]) {
    const [U, S, V] = eg.svdLowrank(matrix, { q: 5 });
    assertTensor(U.mul(S).matmul(V.t()), matrix.dataSync(), { atol: 1e-9 });
    assertTensor(S, eg.linalg.svdvals(matrix).narrow(0, 0, 5).dataSync(), { atol: 1e-9 });
  }
  const [, S, V] = eg.pcaLowrank(A, { q: 3 });
  const centered = A.sub(A.mean(0, true));
  assertTensor(centered.matmul(V).square().sum(0).sqrt(), S.dataSync(), { rtol: 1e-9 });
  assertThrows(() => eg.svdLowrank(A, { q: 13 }), "InvalidArgument", /0 to 12/);
});

test("orthogonal polynomials refuse degrees that would take forever", () => {
  assertThrows(() => eg.special.legendrePolynomialP(eg.ones([1]), 1e9), "InvalidArgument", /up to/);
  assertThrows(() => eg.special.hermitePolynomialH(eg.ones([1]), "2"), "InvalidArgument", /n: /);
});

test("eg.fft is a transform itself", () => {
  const x = eg.tensor([1, 2, 3, 4]);
  assert.equal(eg.fft.name, "fft");
  assert.deepEqual(eg.fft(x).dataSync(), eg.fft.fft(x).dataSync());
  assert.deepEqual(eg.fft(x, { n: 2 }).shape, [2]);
  assertTensor(eg.fft.irfft(eg.fft.rfft(x)), [1, 2, 3, 4], { rtol: 1e-6, atol: 1e-6 });
  assert.deepEqual(Object.keys(eg.zeros), []);
});

describe("eg.linalg.norm", () => {
  const A = eg.tensor([
    [1, -2],
    [3, 4],
  ]);
  const near = { rtol: 1e-6, atol: 1e-6 };
  const all = Math.sqrt(30);
  // The singular values of A.
  const [large, small] = [15 + Math.sqrt(125), 15 - Math.sqrt(125)].map(Math.sqrt);

  test("is the 2-norm of all elements when neither order nor dimension is given", () => {
    assertTensor(eg.linalg.norm(A), [all], { shape: [], ...near });
    assertTensor(eg.linalg.norm(A.reshape([2, 1, 2])), [all], { shape: [], ...near });
    assertTensor(eg.linalg.norm(A, { keepdim: true }), [all], { shape: [1, 1], ...near });
    assertTensor(eg.linalg.norm(eg.tensor(-3)), [3], { shape: [] });
  });

  test("is that of a matrix where an order is given, and torch.norm's is that of a vector", () => {
    const orders = new Map([
      [2, large],
      [-2, small],
      ["nuc", large + small],
      ["fro", all],
      [1, 6],
      [-1, 4],
      [Number.POSITIVE_INFINITY, 7],
      [Number.NEGATIVE_INFINITY, 3],
    ]);
    for (const [order, expected] of orders) {
      assertTensor(eg.linalg.norm(A, order), [expected], { shape: [], ...near });
      assertTensor(eg.linalg.norm(A, { ord: order, dim: [0, 1], keepdim: true }), [expected], {
        shape: [1, 1],
        ...near,
      });
    }
    assertTensor(eg.norm(A, 1), [10], { shape: [] });
    assertTensor(eg.norm(A, 2), [all], { shape: [], ...near });
  });

  test("is that of vectors along one dimension", () => {
    assertTensor(eg.linalg.norm(A, 1, 0), [4, 6], { shape: [2] });
    assertTensor(eg.linalg.norm(A, { dim: -1 }), [Math.sqrt(5), 5], { shape: [2], ...near });
    assertTensor(eg.linalg.norm(A.flatten(), 1), [10], { shape: [] });
    assertTensor(eg.linalg.norm(A, { dim: [0, 1] }), [all], { shape: [], ...near });
    assert.equal(eg.linalg.norm(A, { dtype: "float64" }).dtype, "float64");
  });

  test("refuses what it has no norm for", () => {
    assertThrows(
      () => eg.linalg.norm(eg.ones([2, 2, 2]), 2),
      "InvalidArgument",
      /linalg\.norm.*dim/,
    );
    assertThrows(() => eg.linalg.norm(eg.tensor(1), 2), "InvalidArgument", /vector or a matrix/);
    assertThrows(() => eg.linalg.norm(A, 3), "InvalidArgument", /ord/);
    assertThrows(() => eg.linalg.norm(A, "fro", 0), "InvalidArgument", /linalg\.norm.*ord/);
    assertThrows(() => eg.linalg.norm(A, "nuc", [0, 1, 0]), "InvalidArgument", /dim/);
    assertThrows(() => eg.linalg.norm(A, { p: 2 }), "InvalidArgument", /"p"/);
  });
});

test("eg.linalg.vander() rises and takes batches; eg.vander() falls", () => {
  const x = eg.tensor([2, 3]);
  assert.deepEqual(eg.linalg.vander(x).tolist(), [
    [1, 2],
    [1, 3],
  ]);
  assert.deepEqual(eg.linalg.vander(x, 3).tolist(), [
    [1, 2, 4],
    [1, 3, 9],
  ]);
  assert.deepEqual(eg.linalg.vander(eg.ones([5, 4, 2]), { N: 7 }).shape, [5, 4, 2, 7]);
  assert.deepEqual(eg.vander(x).tolist(), [
    [2, 1],
    [3, 1],
  ]);
  assertThrows(() => eg.linalg.vander(x, 1), "InvalidArgument", /linalg\.vander.*N/);
});

test("eg.linalg.diagonal() is a view of the last two dimensions", () => {
  const x = eg.arange(12).reshape([3, 2, 2]);
  const diagonal = eg.linalg.diagonal(x);
  assert.deepEqual(diagonal.tolist(), [
    [0, 3],
    [4, 7],
    [8, 11],
  ]);
  diagonal.zero_();
  assert.equal(x.sum().item(), 1 + 2 + 5 + 6 + 9 + 10);
});

test("eg.linalg solves what torch.linalg solves", () => {
  const A = eg.tensor([
    [2, 0],
    [1, 4],
  ]);
  const near = { rtol: 1e-6, atol: 1e-6 };
  assertTensor(eg.linalg.solve(A, eg.tensor([2, 9])), [1, 2], { shape: [2], ...near });
  assertTensor(eg.linalg.inv(A).matmul(A), [1, 0, 0, 1], { shape: [2, 2], ...near });
  const [solution] = eg.linalg.lstsq(A, eg.tensor([[2], [9]]));
  assertTensor(solution, [1, 2], { shape: [2, 1], ...near });
  assertTensor(eg.linalg.multiDot([A, A, eg.tensor([1, 0])]), [4, 6], { shape: [2], ...near });
});

test("the degrees of polynomials may be booleans", () => {
  const x = eg.tensor([2, 2]);
  const n = eg.tensor([true, false]);
  assertTensor(eg.special.hermitePolynomialHe(x, n), [2, 1]);
});
