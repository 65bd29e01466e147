// complex32: storing, reading, promotion, arithmetic, gradients.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { readJson } from "../support/files.mjs";
import { callOp, opTable, samplesOf } from "../support/op_samples.mjs";

const golden = readJson("tests/golden/complex_halves.json");
const kEps = 2 ** -10;

const made = (pairs) =>
  eg.tensor(
    pairs.map(([re, im]) => ({ re, im })),
    { dtype: "complex32" },
  );
const mask = () => eg.tensor([true, false, true, false]);
const seeded = (make) => {
  eg.manualSeed(3);
  return make();
};
const options = { dtype: "complex32" };

const kCases = {
  add: (a, b) => a.add(b),
  sub: (a, b) => a.sub(b),
  mul: (a, b) => a.mul(b),
  mulNumber: (a) => a.mul(0.1),
  mulImaginary: (a) => a.mul({ re: 0, im: 2 }),
  halfTimesImaginary: (a) => a.real().mul({ re: 0, im: 2 }),
  addHalf: (a, b) => a.add(b.real()),
  neg: (a) => a.neg(),
  abs: (a) => a.abs(),
  sgn: (a) => a.sgn(),
  real: (a) => a.real(),
  imag: (a) => a.imag(),
  conj: (a) => a.conj(),
  eq: (a, b) => a.eq(b),
  cat: (a, b) => eg.cat([a, b]),
  stack: (a, b) => eg.stack([a, b]),
  indexSelect: (a) => a.indexSelect(0, eg.tensor([2n, 0n])),
  where: (a, b) => eg.where(mask(), a, b),
  maskedFill: (a) => a.maskedFill(mask(), 2),
  complex: (a, b) => eg.complex(a.real(), b.real()),
  viewAsReal: (a) => eg.viewAsReal(a),
  toComplex64: (a) => a.to("complex64"),
  toHalf: (a) => a.half(),
  toBool: (a) => a.bool(),
  norm: (_, b) => b.norm(),
  full: () => eg.full([2], { re: 1, im: 2 }, options),
  ones: () => eg.ones([2], options),
  rand: () => seeded(() => eg.rand([5], options)),
  randn: () => seeded(() => eg.randn([5], options)),
  randnMany: () => seeded(() => eg.randn([20], options)),
};

describe("results are PyTorch's", () => {
  for (const [name, { dtype, shape, value }] of Object.entries(golden.cases))
    test(name, () =>
      eg.scope(() => {
        const result = kCases[name](made(golden.a), made(golden.b));
        assert.equal(result.dtype, dtype);
        assert.deepEqual(result.shape, shape);
        assertClose(Array.from(result.dataSync(), Number), value, { rtol: kEps, atol: kEps / 4 });
      }),
    );

  test("gradients", () => {
    const [a, b] = [made(golden.a).requiresGrad_(), made(golden.b).requiresGrad_()];
    a.mul(b).abs().sum().backward();
    for (const [i, leaf] of [a, b].entries()) {
      assert.equal(leaf.grad.dtype, "complex32");
      const expected = golden.gradients[i].value;
      assertClose([...leaf.grad.dataSync()], expected, { rtol: 8 * kEps, atol: kEps });
    }
  });

  test("promotion", () => {
    for (const [other, expected] of golden.promotion) {
      const [x, y] = [eg.ones([2], options), eg.ones([2], { dtype: other })];
      assert.equal(x.add(y).dtype, expected, other);
      assert.equal(y.add(x).dtype, expected, other);
    }
  });

  test("printing", () => {
    const text = golden.print.replace("torch.", "");
    assert.equal(String(made(golden.a).narrow(0, 0, 2)), text);
  });
});

describe("elements", () => {
  test("are stored in four bytes and read as pairs of float32", () => {
    const x = made([
      [1.1, 2],
      [-3, 2 ** -24],
    ]);
    assert.equal(x.elementSize(), 4);
    assert.deepEqual(x.dataSync(), Float32Array.of(1.099609375, 2, -3, 2 ** -24));
    assert.deepEqual(x.tolist(), [
      { re: 1.099609375, im: 2 },
      { re: -3, im: 2 ** -24 },
    ]);
    assert.deepEqual(x.at(0).item(), { re: 1.099609375, im: 2 });
    assert.equal(eg.tensor(Float32Array.of(1, 2, 3, 4), options).numel, 2);
    assert.equal(x.isComplex(), true);
  });

  test("have the limits of float16", () => {
    assert.deepEqual(eg.finfo("complex32"), eg.finfo("float16"));
    assertThrows(
      () => eg.full([1], 65520, options),
      "InvalidArgument",
      /65520 does not fit complex32/,
    );
  });

  test("are views of pairs of float16, both ways", () => {
    const x = made([[1, 2]]);
    x.imag().fill_(5);
    assert.deepEqual(x.tolist(), [{ re: 1, im: 5 }]);
    const pairs = eg.tensor([[1, 2]], { dtype: "float16" });
    const y = eg.viewAsComplex(pairs);
    assert.equal(y.dtype, "complex32");
    y.mul_(2);
    assert.deepEqual(pairs.tolist(), [[2, 4]]);
    const refused = eg.ones([1, 2], { dtype: "bfloat16" });
    assertThrows(() => eg.viewAsComplex(refused), "DtypeMismatch", /bfloat16/);
  });

  test("come from files of torch.save and go there", async () => {
    const x = made(golden.a);
    const { y } = await eg.io.loadTorch(await eg.io.saveTorch({ y: x }));
    assert.equal(y.dtype, "complex32");
    assert.deepEqual(y.tolist(), x.tolist());
  });

  test("are the default beside float16", () => {
    eg.setDefaultDtype("float16");
    try {
      assert.equal(eg.tensor({ re: 1, im: 2 }).dtype, "complex32");
    } finally {
      eg.setDefaultDtype("float32");
    }
  });
});

const kUnset = new Set(["empty", "emptyLike"]);
const kOtherDigits = new Set(["rand", "randLike", "uniform_", "randn", "randnLike", "normal_"]);
// Their results are unique up to a factor, or depend on digits that rounding takes away.
const kUnstable = new Set(["eig", "eigh", "svd", "eigvals", "balanceRatios"]);
const kRounded = { complex64: "complex32", float32: "float16" };

describe("an op of complex32 is the rounded op of complex64", () => {
  for (const op of opTable.filter(({ kind, js }) => kind !== "internal" && !kUnset.has(js)))
    test(op.js, () => eg.scope(() => checkOp(op)));
});

function checkOp(op) {
  const [sample] = samplesOf(op);
  const args = sample?.make("complex64");
  const isComplex = (value) => value instanceof eg.Tensor && value.dtype === "complex64";
  if (!args?.flat().some(isComplex)) return;
  const convert = (to) => (value) => {
    if (Array.isArray(value)) return value.map(convert(to));
    return isComplex(value) ? value.detach().to("complex32").to(to) : value;
  };
  const [found, expected] = ["complex32", "complex64"].map((to) => {
    try {
      return callOp(op, args.map(convert(to)));
    } catch (error) {
      return error.code;
    }
  });
  if (!Array.isArray(expected) || !Array.isArray(found)) {
    assert.equal(found, expected);
    return;
  }
  found.forEach((result, i) => {
    assert.equal(result.dtype, kRounded[expected[i].dtype] ?? expected[i].dtype);
    assert.deepEqual(result.shape, expected[i].shape);
    if (kOtherDigits.has(op.js) || kUnstable.has(op.js)) return;
    const [a, e] = [result, expected[i]].map((t) => Array.from(t.detach().dataSync(), Number));
    assertClose(a, e, { rtol: kEps, atol: 2 ** -24 });
  });
}
