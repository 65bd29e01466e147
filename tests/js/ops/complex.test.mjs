// Complex numbers through the package: numbers as operands, gradients, views, transforms.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { gradcheck, gradgradcheck } = eg.autograd;
const leaf = (...numbers) => eg.tensor(numbers, { dtype: "complex128", requiresGrad: true });
const scalar = (re, im) => eg.tensor({ re, im }, { dtype: "complex128", requiresGrad: true });

/** Returns the parts of the gradient of a loss at one number. */
function gradientAt(re, im, loss) {
  const z = scalar(re, im);
  loss(z).backward();
  return z.grad.dataSync();
}

describe("complex tensors", () => {
  test("are read as pairs, and items as {re, im}", () => {
    const z = eg.tensor([{ re: 1, im: 2 }, 3]);
    assert.equal(z.dtype, "complex64");
    assert.deepEqual([...z.dataSync()], [1, 2, 3, 0]);
    assert.deepEqual(z.at(0).item(), { re: 1, im: 2 });
  });

  test("meet complex numbers as operands", () => {
    const i = { re: 0, im: 1 };
    assert.deepEqual([...eg.tensor([1, 2]).mul(i).dataSync()], [0, 1, 0, 2]);
    assert.equal(eg.tensor([1, 2]).mul(i).dtype, "complex64");
    const x = eg.zeros([2], { dtype: "complex128" });
    x.add_(i, { alpha: 2 });
    x.set_([1], { re: 5, im: 6 });
    assert.deepEqual([...x.dataSync()], [0, 2, 5, 6]);
    assertThrows(
      () => eg.zeros([1]).add_(i),
      "DtypeMismatch",
      /written in place to a tensor of float32/,
    );
  });

  test("are made from parts and from polar coordinates", () => {
    const z = eg.complex(eg.tensor([1, 0]), eg.tensor([0, 2]));
    assert.deepEqual([...z.dataSync()], [1, 0, 0, 2]);
    assertClose(eg.polar(z.abs(), z.angle()).dataSync(), z.dataSync(), { rtol: 0, atol: 1e-6 });
    assert.deepEqual([...z.conj().dataSync()], [1, -0, 0, -2]);
  });

  test("have inverse functions that are right far away, beside zero and on both sides of a cut", () => {
    const half = Math.PI / 2;
    const ln2 = Math.LN2;
    const known = [
      ["asin", [1e10, 1], [half - 1e-10, Math.log(1e10) + ln2]],
      ["asinh", [-1e10, 0.5], [-Math.log(1e10) - ln2, 5e-11]],
      ["acos", [-1e150, 0], [Math.PI, -Math.log(1e150) - ln2]],
      ["acosh", [-3, -0], [Math.acosh(3), -Math.PI]],
      ["atanh", [1e-30, 0], [1e-30, 0]],
      ["atanh", [1, 1e-30], [(Math.log(2) + Math.log(1e30)) / 2, half / 2]],
      ["atanh", [1e200, -1], [1e-200, -half]],
      ["atan", [Number.POSITIVE_INFINITY, 1], [half, 0]],
      ["asin", [2, 0], [half, Math.acosh(2)]],
      ["asin", [2, -0], [half, -Math.acosh(2)]],
      ["log1p", [-1, 1e-10], [Math.log(1e-10), half]],
    ];
    for (const [name, [re, im], parts] of known) {
      const found = eg[name](eg.tensor([{ re, im }], { dtype: "complex128" })).dataSync();
      assertClose(found, parts, { rtol: 1e-14, atol: 0, what: `${name}(${re}, ${im})` });
    }
  });

  test("share memory with their parts", () => {
    const z = eg.zeros([2], { dtype: "complex64" });
    z.real().fill_(3);
    z.imag().at(1).fill_(4);
    assert.deepEqual([...z.dataSync()], [3, 0, 3, 4]);
    assert.equal(eg.viewAsComplex(eg.viewAsReal(z)).storageOffset, z.storageOffset);
  });

  test("refuse what has no meaning for them, and work afterwards", () => {
    const z = leaf(1, { re: 0, im: 1 });
    for (const op of ["relu", "floor", "softplus", "sort", "argmax", "max"]) {
      assertThrows(() => z[op](), "DtypeMismatch");
    }
    assertThrows(() => z.lt(1), "DtypeMismatch", /\[lt\].*complex128/);
    assertThrows(
      () => eg.imag(eg.ones([2])),
      "DtypeMismatch",
      /expected a complex tensor, got float32/,
    );
    assert.deepEqual([...z.add(1).dataSync()], [2, 0, 1, 1]);
  });
});

describe("gradients of complex numbers are PyTorch's", () => {
  const cases = [
    ["abs", 3, 4, (z) => z.abs(), [0.6, 0.8]],
    ["abs at 0", 0, 0, (z) => z.abs(), [0, 0]],
    ["Re z^2", 3, 4, (z) => z.mul(z).real(), [6, -8]],
    ["Im z^2", 3, 4, (z) => z.mul(z).imag(), [8, 6]],
    ["Re exp z", 1, 1, (z) => z.exp().real(), [1.4686939, -2.2873553]],
    ["abs log z", 1, 1, (z) => z.log().abs(), [-0.2555865, 0.6592993]],
    ["angle", 1, 1, (z) => z.angle(), [-0.5, 0.5]],
    ["Re sgn z", 3, 4, (z) => z.sgn().real(), [0.128, -0.096]],
    ["Re conj z", 3, 4, (z) => z.conj().real(), [1, 0]],
    ["Im conj z", 3, 4, (z) => z.conj().imag(), [0, -1]],
  ];
  for (const [name, re, im, loss, expected] of cases) {
    test(`the gradient of ${name}`, () => {
      // rule: complex-known-values
      assertClose(gradientAt(re, im, loss), expected, { rtol: 0, atol: 1e-6 });
    });
  }

  test("a complex result needs a gradient, of its own dtype", () => {
    // rule: implicit-gradient-real-only, root-gradient-complexness
    const z = scalar(1, 2);
    z.mul(2).backward(eg.tensor({ re: 1, im: 0 }, { dtype: "complex128" }));
    assert.deepEqual([...z.grad.dataSync()], [2, 0]);
    assertThrows(
      () => z.mul(2).backward(),
      "NonScalarBackward",
      /dtype complex128 needs a gradient/,
    );
    assertThrows(
      () => z.mul(2).backward(eg.tensor(1, { dtype: "float64" })),
      "DtypeMismatch",
      /gradient 0 has dtype .*, but its output has dtype/,
    );
  });

  test("descending along them makes a loss smaller", () => {
    // rule: complex-convention
    const z = leaf({ re: 2, im: -1 }, { re: -1, im: 3 });
    const target = eg.tensor([{ re: 1, im: 1 }, 0], { dtype: "complex128" });
    const optimizer = new eg.optim.SGD([z], { lr: 0.1 });
    const loss = () => z.sub(target).abs().square().sum();
    const before = loss().item();
    for (let step = 0; step < 20; step++) {
      optimizer.zeroGrad();
      loss().backward();
      optimizer.step();
    }
    assert.ok(loss().item() < before * 1e-3);
  });
});

describe("a real base with a complex exponent", () => {
  const exponents = () => leaf({ re: 1, im: 2 }, { re: 0.5, im: -1 });
  const partsOf = (tensor) => [...eg.viewAsReal(tensor).dataSync()];
  // PyTorch's gradients of the sum of the real parts by the exponents.
  const kExpected = [
    0.011059406854255343, 0.004697477459472631, -64.59241623803918, -83.14179769772494,
  ];
  const bases = {
    "a tensor": () => eg.tensor([-2, -2], { dtype: "float64" }),
    "a 0-dim tensor": () => eg.tensor(-2, { dtype: "float64" }),
    "a number": () => -2,
    "a complex tensor": () => eg.tensor([-2, -2], { dtype: "complex128" }),
  };
  for (const [name, base] of Object.entries(bases)) {
    test(`that is negative, ${name}, has PyTorch's gradient`, () => {
      const z = exponents();
      eg.pow(base(), z).real().sum().backward();
      assertClose(partsOf(z.grad), kExpected, { rtol: 1e-13 });
    });
  }

  test("has right gradients of both orders on either side of zero", () => {
    const x = eg.tensor([-2, 1.5], { dtype: "float64", requiresGrad: true });
    assert.ok(gradcheck((a, z) => eg.pow(a, z), [x, exponents()]));
    assert.ok(gradgradcheck((a, z) => eg.pow(a, z), [x, exponents()]));
    const y = eg.pow(x, exponents());
    assert.equal(eg.autograd.grad(y.real().sum(), [x])[0].dtype, "float64");
  });

  test("keeps the dtype of what has dimensions", () => {
    const z = eg.tensor([{ re: 1, im: 2 }]);
    assert.equal(eg.pow(-2, z).dtype, "complex64");
    assert.equal(eg.pow(eg.tensor(-2, { dtype: "float64" }), z).dtype, "complex64");
  });
});

test("a number is infinite if one of its parts is", () => {
  const parts = [Infinity, -Infinity, Number.NaN, 1, 1e308];
  for (const dtype of ["complex64", "complex128"])
    for (const re of parts)
      for (const im of parts) {
        const isInfinite = [re, im].some((part) =>
          eg
            .tensor(part, { dtype: dtype === "complex64" ? "float32" : "float64" })
            .isinf()
            .item(),
        );
        assert.equal(eg.tensor({ re, im }, { dtype }).isinf().item(), isInfinite);
      }
});

test("the product of no complex numbers is 1 and has a graph", () => {
  for (const dims of [[], [0]]) {
    const z = eg.zeros([0, 3], { dtype: "complex64", requiresGrad: true });
    const product = z.prod(...dims);
    assert.deepEqual([...eg.real(product).dataSync()], dims.length === 0 ? [1] : [1, 1, 1]);
    const [grad] = eg.autograd.grad(product.real().sum(), [z]);
    assert.deepEqual(grad.shape, [0, 3]);
  }
});

describe("gradcheck takes complex inputs and outputs", () => {
  const z = () => leaf({ re: 0.5, im: -1.2 }, { re: -0.7, im: 0.4 });

  test("and agrees with right gradients", () => {
    // rule: gradcheck-accepts
    assert.ok(gradcheck((a) => a.tanh().mul({ re: 0, im: 1 }), [z()]));
    assert.ok(gradgradcheck((a) => a.exp().mul(a.conj()), [z()]));
    const a = eg.randn([2, 3], { dtype: "complex128", requiresGrad: true });
    const b = eg.randn([3, 2], { dtype: "complex128", requiresGrad: true });
    assert.ok(gradcheck((x, y) => x.matmul(y), [a, b]));
    assert.ok(gradgradcheck((x) => eg.irfft(x), [z()]));
  });

  test("and finds one that is not conjugated", () => {
    // rule: gradcheck-finds
    class Wrong extends eg.autograd.Function {
      static forward(ctx, x) {
        ctx.saveForBackward(x);
        return x.mul(x);
      }
      static backward(ctx, g) {
        return g.mul(ctx.savedTensors[0].mul(2));
      }
    }
    const wrong = () => gradcheck((x) => Wrong.apply(x), [z()]);
    assert.throws(wrong, { code: "InvalidGradient" });
  });
});

describe("Fourier transforms", () => {
  test("give PyTorch's numbers", () => {
    const x = eg.tensor([1, 2, 3, 4], { dtype: "float64" });
    assert.deepEqual([...eg.fft(x).dataSync()], [10, 0, -2, 2, -2, 0, -2, -2]);
    assert.deepEqual([...eg.rfft(x).dataSync()], [10, 0, -2, 2, -2, 0]);
    assertClose(eg.irfft(eg.rfft(x)).dataSync(), x.dataSync(), { rtol: 0, atol: 1e-15 });
    assert.deepEqual(eg.fft(x, { n: 6, norm: "ortho" }).shape, [6]);
    assertThrows(() => eg.fft(x, { norm: "none" }), "InvalidArgument", /ortho/);
  });
});

describe("complex numbers as arguments", () => {
  const c = { re: 1, im: 2 };
  const z = (shape = [2]) => eg.full(shape, { re: 1, im: 1 });
  const partsOf = (tensor) => [tensor.dtype, [...tensor.dataSync()]];
  const of = (...numbers) => ["complex64", numbers.flat()];

  // The expected values are those of PyTorch 2.6.
  test("fill tensors", () => {
    const real = eg.ones([2]);
    const wide = { dtype: "complex128" };
    for (const [made, dtype = "complex64"] of [
      [eg.full([2], c)],
      [eg.full({ size: [2], fillValue: c })],
      [eg.full([2], c, wide), "complex128"],
      [eg.fullLike(z(), c)],
      [eg.fullLike(real, c, wide), "complex128"],
      [eg.fullLike(real, { fillValue: c, ...wide }), "complex128"],
      [z().newFull([2], c)],
      [z().fill_(c)],
      [eg.nn.init.constant_(z(), c)],
      [eg.nn.init.constant_(z(), { val: c })],
    ]) {
      assert.deepEqual(partsOf(made), [dtype, [1, 2, 1, 2]]);
    }
    assert.ok(eg.full([2], c, { requiresGrad: true }).isLeaf);
    assertTensor(eg.fullLike(real, { re: 3, im: 0 }), [3, 3]);
    for (const call of [
      () => eg.full([2], c, { dtype: "float32" }),
      () => eg.fullLike(real, c),
      () => real.newFull([2], c),
      () => real.clone().fill_(c),
    ]) {
      assertThrows(call, "DtypeMismatch");
    }
  });

  test("are factors of complex operands, with gradients", () => {
    const [a, b] = [z([2, 2]), z([1, 2, 2])];
    const both = { beta: c, alpha: { re: 0, im: 2 } };
    for (const [result, expected] of [
      [eg.add(z(), z(), c), [0, 4]],
      [eg.add(eg.ones([2]), z(), { alpha: c }), [0, 3]],
      [eg.sub(z(), z(), { alpha: c }), [2, -2]],
      [eg.rsub(z(), z(), { alpha: c }), [2, -2]],
      [z().rsub(z(), { alpha: c }), [2, -2]],
      [z().add_(z(), { alpha: c }), [0, 4]],
      [eg.addcmul(z(), z(), z(), { value: c }), [-3, 3]],
      [eg.addcdiv(z(), z(), z(), { value: c }), [2, 3]],
      [eg.indexAdd(z(), 0, eg.tensor([0, 1], { dtype: "int64" }), z(), { alpha: c }), [0, 4]],
      [eg.addmv(z(), a, z(), both), [-9, 3]],
    ]) {
      assert.deepEqual(partsOf(result), of(expected, expected));
    }
    const [row, square] = [
      [-5, 3],
      [-9, 3],
    ].map((one) => of(one, one, one, one));
    assert.deepEqual(partsOf(eg.addmm(a, a, a, both)), square);
    assert.deepEqual(partsOf(z([2, 2]).addmm_(a, a, both)), square);
    assert.deepEqual(partsOf(eg.addbmm(a, b, b, both)), square);
    assert.deepEqual(partsOf(eg.baddbmm(b, b, b, both)), square);
    assert.deepEqual(partsOf(eg.addr(a, z(), z(), both)), row);
    const double = () => eg.tensor([c, { re: -1, im: 0.5 }], { dtype: "complex128" });
    assert.ok(
      eg.autograd.gradcheck(
        (x, y) => x.clone().addmm_(y, y, both).add(y, { alpha: c }),
        [0, 1].map(() => double().reshape(1, 2).mul(double().unsqueeze(1)).requiresGrad_()),
      ),
    );
    const mapped = eg.func.vmap((x, y) => x.add(y, { alpha: c }))(a, a);
    assert.deepEqual(partsOf(mapped), of([0, 4], [0, 4], [0, 4], [0, 4]));
  });

  test("are refused as factors of real operands, which stay as they are", () => {
    const x = eg.ones([2, 2]);
    const message = /: a complex number needs complex operands/;
    assertThrows(() => eg.add(x, x, { alpha: c }), "DtypeMismatch", /^\[add\] alpha: a complex/);
    assertThrows(() => x.add_(x, { alpha: c }), "DtypeMismatch", message);
    assertThrows(() => eg.addmm(x, x, x, { beta: c }), "DtypeMismatch", /^\[addmm\] beta/);
    assertThrows(() => eg.addmm(x, z([2, 2]), z([2, 2]), { beta: c }), "DtypeMismatch", message);
    assertThrows(() => eg.elu(x, c), "InvalidArgument", /alpha: expected a number/);
    assertTensor(eg.add(x, x, { alpha: { re: 3, im: 0 } }), [4, 4, 4, 4]);
    assertTensor(x, [1, 1, 1, 1]);
  });

  test("are ends of linspace and logspace", () => {
    assert.deepEqual(partsOf(eg.linspace(c, 3, 3)), of([1, 2, 2, 1, 3, 0]));
    assert.deepEqual(partsOf(eg.linspace(0, c, 3)), of([0, 0, 0.5, 1, 1, 2]));
    assert.deepEqual(partsOf(eg.linspace(c, 3, 1)), of([1, 2]));
    assert.deepEqual(partsOf(eg.linspace(c, 3, 0)), of([]));
    assert.equal(eg.linspace(0, c, 3, { dtype: "complex128" }).dtype, "complex128");
    assert.deepEqual(
      partsOf(eg.linspace(0, 3, 3, { dtype: "complex64" })),
      of([0, 0, 1.5, 0, 3, 0]),
    );
    const angle = Math.LN2;
    const powers = [
      ...[2 * Math.cos(2 * angle), 2 * Math.sin(2 * angle)],
      ...[4 * Math.cos(angle), 4 * Math.sin(angle), 8, 0],
    ];
    const spaced = eg.logspace(c, 3, 3, { base: 2 });
    assert.equal(spaced.dtype, "complex64");
    assertTensor(spaced, powers);
    for (const f of [eg.linspace, eg.logspace]) {
      assertThrows(() => f(0, c, 3, { dtype: "float32" }), "DtypeMismatch", /complex ends/);
    }
  });
});
