// Values, dtypes and errors that follow PyTorch: the behavior of ops for integers, for numbers that
// do not fit into a dtype, and for NaN.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kIntegers = ["int32", "int64", "uint8"];
const kNan = Number.NaN;
const ints = (values, dtype = "int32") => eg.tensor(values, { dtype });

/** Returns the gradients of sum(f(...)) at these numbers, as float32 vectors. */
function gradients(f, ...lists) {
  const leaves = lists.map((list) => eg.tensor(list, { requiresGrad: true }));
  return eg.autograd.grad([f(...leaves).sum()], leaves).map((grad) => [...grad.dataSync()]);
}

describe("integers", () => {
  for (const dtype of kIntegers) {
    test(`of ${dtype} are not divided by zero`, () => {
      const x = ints([7, 3], dtype);
      for (const name of ["floorDivide", "remainder", "fmod"]) {
        for (const zero of [0, ints([2, 0], dtype), ints(0, dtype)]) {
          assertThrows(() => eg[name](x, zero), "InvalidArgument", /divided by zero/);
          assertThrows(() => eg[`${name}_`](x, zero), "InvalidArgument", /divided by zero/);
        }
      }
      assertTensor(x, [7, 3]);
      assert.equal(x.version, 0);
      assertTensor(x.floorDivide(2), [3, 1]);
      assertTensor(x.remainder(ints([4, 3], dtype)), [3, 0]);
    });

    test(`of ${dtype} have no negative powers, written as numbers`, () => {
      const x = ints([2, 1], dtype);
      const sentence = /negative power/;
      assertThrows(() => x.pow(-1), "InvalidArgument", sentence);
      assertThrows(() => x.pow_(-2), "InvalidArgument", sentence);
      assertTensor(x.pow(3), [8, 1]);
      assertTensor(x.pow(-1.5), [2 ** -1.5, 1]);
    });

    test(`of ${dtype} become floats beside limits with decimals`, () => {
      const x = ints([0, 1, 7], dtype);
      const clamped = x.clamp(0.5, 1.5);
      assert.equal(clamped.dtype, "float32");
      assertTensor(clamped, [0.5, 1, 1.5]);
      assert.equal(x.clamp({ max: 2.5 }).dtype, "float32");
      assert.equal(x.clamp(1, 2).dtype, dtype);
      assertTensor(x.clamp(1, 2), [1, 1, 2]);
      assertThrows(
        () => x.clamp_(0.5, 1.5),
        "DtypeMismatch",
        /a result of float32 cannot be written in place/,
      );
      assertTensor(x, [0, 1, 7]);
    });

    test(`of ${dtype} are multiplied by whole factors`, () => {
      const x = ints([2, 1], dtype);
      for (const name of ["add", "sub", "add_", "sub_"]) {
        assertThrows(
          () => eg[name](x, x, { alpha: 0.5 }),
          "InvalidArgument",
          /alpha must be an integer, got 0.5/,
        );
      }
      assertTensor(x.add(x, { alpha: 2 }), [6, 3]);
    });
  }

  test("divided by what their dtype makes zero are refused too, and nothing is not divided", () => {
    const zero = eg.tensor(256, { dtype: "int64" });
    assertThrows(() => ints([5], "uint8").remainder(256), "InvalidArgument", /not fit uint8/);
    assertThrows(() => ints([5], "uint8").remainder(zero), "InvalidArgument", /by zero/);
    assertTensor(ints([]).floorDivide(0), []);
    assertTensor(eg.tensor([1, -1]).floorDivide(0), [Infinity, -Infinity]);
    assertTensor(ints([5]).div(0), [Infinity]);
  });

  test("at the end of their range do not trap", () => {
    const x = ints([-2147483648]);
    assertTensor(x.floorDivide(-1), [-2147483648]);
    assertTensor(x.remainder(-1), [0]);
    assertTensor(x.fmod(ints([-1])), [0]);
  });

  test("have tensors of negative powers, as far as those are integers", () => {
    assertTensor(ints([1, -1, 2]).pow(ints([-3, -3, -1])), [1, -1, 0]);
  });
});

describe("booleans", () => {
  test("are not subtracted or negated", () => {
    const x = eg.tensor([true, false]);
    assertThrows(() => x.neg(), "DtypeMismatch", /logicalNot\(\)/);
    assertThrows(() => x.sub(x), "DtypeMismatch", /Subtraction/);
    assertThrows(() => eg.tensor([1, 2]).sub(true), "DtypeMismatch", /Subtraction/);
    for (const name of ["abs", "floor", "round"]) {
      assertThrows(() => x[name](), "DtypeMismatch", /not implemented for bool/);
    }
    for (const name of ["remainder", "floorDivide", "pow"]) {
      assertThrows(() => x[name](x), "DtypeMismatch", /not implemented for bool/);
    }
    assertTensor(x.add(x), [1, 0]);
  });

  test("are clamped as integers", () => {
    const x = eg.tensor([true, false]).clamp(0, 1);
    assert.equal(x.dtype, "int64");
    assertTensor(x, [1, 0]);
  });
});

describe("values of another dtype", () => {
  const mask = eg.tensor([true, false]);
  const place = eg.tensor([0], { dtype: "int64" });
  const writers = {
    maskedFill: (x, value) => x.maskedFill(mask, value),
    maskedFill_: (x, value) => x.clone().maskedFill_(mask, value),
    indexFill: (x, value) => x.indexFill(0, place, value),
    scatter: (x, value) => x.scatter(0, place, value),
    fill_: (x, value) => x.clone().fill_(value),
    fullLike: (x, value) => eg.fullLike(x, value),
    full: (x, value) => eg.full([1], value, { dtype: x.dtype }),
  };
  for (const [name, write] of Object.entries(writers)) {
    test(`${name} keeps the dtype of the tensor, and refuses what does not fit`, () => {
      const x = ints([5, 5]);
      assert.equal(write(x, 0.7).dtype, "int32");
      assert.equal(write(x, 0.7).dataSync()[0], 0);
      assert.equal(write(x, -1.5).dataSync()[0], -1);
      const refused = [
        ["int32", 3e9],
        ["int32", kNan],
        ["int64", Infinity],
        ["uint8", 300],
        ["uint8", -0.5],
        ["float32", 1e39],
      ];
      for (const [dtype, value] of refused) {
        const target = eg.ones([2], { dtype });
        const sentence = new RegExp(`does not fit ${dtype}`);
        assertThrows(() => write(target, value), "InvalidArgument", sentence);
      }
      assert.equal(write(eg.ones([2], { dtype: "uint8" }), -1).dataSync()[0], 255);
      assert.equal(write(eg.ones([2]), Infinity).dataSync()[0], Infinity);
      assert.equal(write(eg.zeros([2], { dtype: "bool" }), 0.7).dataSync()[0], 1);
    });
  }

  test("lists too are refused where a number does not fit", () => {
    for (const [dtype, value] of [
      ["uint8", 300],
      ["uint8", -256],
      ["int32", 3e9],
      ["int32", Number.NaN],
      ["int64", Infinity],
      ["int64", 2n ** 63n],
      ["int64", 2 ** 63],
    ]) {
      const sentence = / without overflow/;
      assertThrows(() => eg.tensor([value], { dtype }), "InvalidArgument", sentence);
    }
    assertTensor(eg.tensor([-1, 1.9], { dtype: "uint8" }), [255, 1]);
    assertTensor(eg.tensor([-1.9, 2147483647], { dtype: "int32" }), [-1, 2147483647]);
    assertTensor(eg.tensor([1e39]), [Infinity]);
  });

  test("written by set_ are refused where a number does not fit", () => {
    const x = eg.zeros([2], { dtype: "uint8" });
    const place = eg.tensor([0], { dtype: "int64" });
    const sentence = /300 does not fit uint8/;
    for (const index of [[0], [place], ["..."]]) {
      assertThrows(() => x.set_(index, 300), "InvalidArgument", sentence);
    }
    assertTensor(x.set_([0], 7), [7, 0]);
  });

  test("maskedFill takes a tensor as it takes a number, and its gradient has its dtype", () => {
    const value = eg.tensor(0.7, { dtype: "float64", requiresGrad: true });
    assertTensor(ints([5, 5]).maskedFill(mask, value), [0, 5]);
    const filled = eg.ones([2]).maskedFill(mask, value);
    assert.equal(filled.dtype, "float32");
    filled.sum().backward();
    assert.equal(value.grad.dtype, "float64");
    assertTensor(value.grad, [1]);
    assertTensor(ints([1, 3]).threshold(1, 0.5), [0, 3]);
    assert.equal(ints([1, 3]).threshold(1, 0.5).dtype, "int32");
  });

  test("indexAdd of booleans stays a boolean", () => {
    const index = eg.tensor([0, 0], { dtype: "int64" });
    const x = eg.tensor([false, false]).indexAdd(0, index, eg.tensor([true, false]), { alpha: 2 });
    assert.equal(x.dtype, "bool");
    assertTensor(x, [1, 0]);
  });

  test("copied into integers need no gradient", () => {
    const source = eg.tensor([1.7, -2.5], { requiresGrad: true });
    for (const target of [ints([0, 0]), eg.zeros([2, 2], { dtype: "int64" }).select(0, 0)]) {
      assert.equal(target.copy_(source), target);
      assert.equal(target.requiresGrad, false);
      assert.equal(target.gradFn, null);
      assertTensor(target, [1, -2]);
    }
    const value = eg.tensor(2.5, { requiresGrad: true });
    assert.equal(ints([0]).fill_(value).requiresGrad, false);
    assert.equal(ints([0, 0]).maskedFill_(mask, value).requiresGrad, false);
  });
});

describe("NaN", () => {
  test("has NaN as gradient of losses with a kink", () => {
    for (const name of ["smoothL1Loss", "huberLoss", "mseLoss"]) {
      const [dx, dt] = gradients(
        (x, t) => eg[name](x, t, { reduction: "sum" }),
        [kNan, 1, 3, 0.25],
        [0, kNan, 0, 0],
      );
      assert.deepEqual(dx.slice(0, 2), [kNan, kNan], name);
      assert.deepEqual(dt.slice(0, 2), [kNan, kNan], name);
      assert.ok(dx.slice(2).every(Number.isFinite), name);
    }
    const [slope] = gradients(
      (x) => eg.huberLoss(x, eg.zeros([4]), { delta: 2, reduction: "sum" }),
      [-5, -2, 1, 5],
    );
    assertClose(slope, [-2, -2, 1, 2]);
  });

  test("has no sign, whose gradient is zero everywhere", () => {
    const x = [kNan, Infinity, -Infinity, -0, 2];
    assertTensor(eg.tensor(x).sgn(), [0, 1, -1, 0, 1]);
    assertTensor(eg.tensor(x).sign(), [0, 1, -1, 0, 1]);
    for (const f of [eg.sgn, eg.sign]) assertClose(gradients(f, x)[0], [0, 0, 0, 0, 0]);
  });

  test("keeps its gradient through copysign and logit", () => {
    const [copied] = gradients((x) => eg.copysign(x, eg.tensor([1, -1, 1])), [kNan, 2, 0]);
    assert.deepEqual(copied.map(Math.abs), [kNan, 1, 0]);
    assert.deepEqual(gradients((x) => eg.logit(x, 0.1), [kNan, 0.01, 0.5]).flat(), [kNan, 0, 4]);
  });
});

describe("spread", () => {
  test("of float32 is added up beyond its range", () => {
    assertClose([eg.tensor([3e38, 0]).std().item()], [2.121320343559643e38], { rtol: 1e-6 });
    assert.equal(eg.tensor([3e38, 0]).var().item(), Infinity);
    assert.equal(eg.full([6], 3e38).std().item(), 0);
    assertClose([eg.tensor([1e-30, 0]).std().item() / 1e-30], [Math.SQRT1_2]);
    const rows = eg.tensor([
      [3e38, 1],
      [0, 3],
    ]);
    assertTensor(rows.std(0).div(eg.tensor([3e38, 1])), [Math.SQRT1_2, Math.SQRT2]);
    assertTensor(rows.stdMean(0)[0].div(eg.tensor([3e38, 1])), [Math.SQRT1_2, Math.SQRT2]);
  });

  test("of fewer elements than the correction has PyTorch's gradient", () => {
    const [along] = gradients((x) => x.var(0, { correction: 5 }), [1, 3]);
    assertClose(along, [2 / 3, -2 / 3]);
    const [all] = gradients((x) => x.var({ correction: 2 }), [1, 3]);
    assert.deepEqual(all, [Infinity, Infinity]);
  });
});

describe("options", () => {
  test("round takes decimals, for floats", () => {
    assertTensor(eg.tensor([1.2345, -2.674, 0.125]).round(2), [1.23, -2.67, 0.12], { atol: 1e-5 });
    assertTensor(eg.tensor([1250, 1350, -2.5]).round({ decimals: -2 }), [1200, 1400, 0]);
    assertTensor(eg.tensor([0.05, 0.15]).round_({ decimals: 1 }), [0, 0.2], { atol: 1e-6 });
    assertTensor(eg.tensor([2.5, 3.5]).round(), [2, 4]);
    assertTensor(ints([7]).round(), [7]);
    assertThrows(() => ints([7]).round({ decimals: 1 }), "DtypeMismatch", /decimals/);
    assertClose(gradients((x) => x.round({ decimals: 1 }), [0.51])[0], [0]);
  });

  test("scatter adds or multiplies", () => {
    const index = eg.tensor([0, 2, 0], { dtype: "int64" });
    const src = eg.tensor([2, 3, 4]);
    const x = eg.tensor([1, 2, 3]);
    assertTensor(x.scatter(0, index, src, { reduce: "add" }), [7, 2, 6]);
    assertTensor(x.scatter(0, index, src, { reduce: "multiply" }), [8, 2, 9]);
    assertTensor(x.scatter(0, index, 2, { reduce: "multiply" }), [4, 2, 6]);
    assertTensor(ints([1, 2, 3]).scatter(0, index, 2, { reduce: "multiply" }), [4, 2, 6]);
    assertTensor(x.clone().scatter_(0, index, src, { reduce: "add" }), [7, 2, 6]);
    assertThrows(() => x.scatter(0, index, src, { reduce: "mean" }), "InvalidArgument", /multiply/);
    const leaf = eg.ones([3], { requiresGrad: true });
    leaf.scatter(0, index, src, { reduce: "add" }).sum().backward();
    assertTensor(leaf.grad, [1, 1, 1]);
    const product = leaf.scatter(0, index, src, { reduce: "multiply" }).sum();
    assertThrows(() => product.backward(), "NotDifferentiable", /scatter/);
  });

  test("diff of order 0 is a copy of the input alone", () => {
    const x = eg.tensor([1, 2]);
    const copy = x.diff({ n: 0, prepend: eg.tensor([5]), append: eg.tensor([6, 7]) });
    assertTensor(copy, [1, 2]);
    copy.zero_();
    assertTensor(x, [1, 2]);
    assertThrows(() => x.diff({ n: -1 }), "InvalidArgument", /n must not be negative, got -1/);
    assertThrows(() => x.diff({ n: 0, prepend: eg.tensor([[5]]) }), "ShapeMismatch");
  });

  test("adaptive pooling keeps a size that is null", () => {
    const x = eg.arange(12, { dtype: "float32" }).reshape([1, 3, 4]);
    const mean = eg.adaptiveAvgPool2d(x, [null, 2]);
    assertTensor(mean, [0.5, 2.5, 4.5, 6.5, 8.5, 10.5], { shape: [1, 3, 2] });
    assertTensor(eg.adaptiveMaxPool2d(x, [1, null]), [8, 9, 10, 11], { shape: [1, 1, 4] });
    assertTensor(eg.adaptiveMaxPool2d(x, [null, null]), [...x.dataSync()], { shape: [1, 3, 4] });
    const layer = new eg.nn.AdaptiveAvgPool2d([null, 1]);
    assertTensor(layer.call(x), [1.5, 5.5, 9.5]);
    assertThrows(() => eg.adaptiveAvgPool2d(x, null), "InvalidArgument", /outputSize/);
    assertThrows(() => eg.adaptiveAvgPool2d(x, [-1, 2]), "InvalidArgument");
  });

  test("truncNormal_ warns when the limits cut off nearly everything", (t) => {
    const warn = t.mock.method(console, "warn", () => {});
    eg.nn.init.truncNormal_(eg.empty([4]), 0, 1, -2, 2);
    assert.equal(warn.mock.callCount(), 0);
    eg.nn.init.truncNormal_(eg.empty([4]), 5, 1, -2, 2);
    assert.match(
      String(warn.mock.calls[0]?.arguments[0]),
      /\[truncNormal_\] the mean is over two standard deviations/,
    );
  });
});

describe("random numbers of tensors that are not contiguous", () => {
  // PyTorch draws in memory order if the elements are contiguous in some order of dimensions.
  const draws = (seed, f) => {
    eg.manualSeed(seed);
    return [...f().dataSync()];
  };
  const transposed = (flat) => [0, 3, 1, 4, 2, 5].map((i) => flat[i]);

  test("dropout", () => {
    const x = eg.ones([2, 3]);
    for (const p of [0.5, 0.3]) {
      const flat = draws(5, () => x.dropout(p));
      assert.deepEqual(
        draws(5, () => x.t().dropout(p)),
        transposed(flat),
      );
      const leaf = eg.ones([2, 3], { requiresGrad: true });
      eg.manualSeed(5);
      leaf.t().dropout(p).sum().backward();
      assertClose(leaf.grad.dataSync(), flat);
    }
    const gaps = eg.ones([2, 6]).at("...", eg.slice(null, null, 2));
    assert.deepEqual(
      draws(5, () => gaps.dropout()),
      draws(5, () => x.dropout()),
    );
    assert.deepEqual(
      draws(5, () => eg.ones([3]).expand([2, 3]).dropout()),
      draws(5, () => x.dropout()),
    );
    assertTensor(x.t().dropout(1), [0, 0, 0, 0, 0, 0], { shape: [3, 2] });
  });

  for (const name of ["uniform_", "normal_", "random_", "exponential_", "bernoulli_"]) {
    test(name, () => {
      assert.deepEqual(
        draws(5, () => eg.empty([2, 3]).t()[name]()),
        transposed(draws(5, () => eg.empty([2, 3])[name]())),
      );
    });
  }

  test("randLike and randnLike", () => {
    for (const f of [eg.randLike, eg.randnLike]) {
      assert.deepEqual(
        draws(5, () => f(eg.empty([2, 3]).t())),
        transposed(draws(5, () => f(eg.empty([2, 3])))),
      );
    }
  });
});
