// Sampling from distributions, and the generators of the random numbers.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { assertClose, assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kGolden = new URL("../../golden/samples.json", import.meta.url);
const { cases, torch } = JSON.parse(readFileSync(kGolden, "utf8"));

const isTensor = (input) => typeof input === "object" && !Array.isArray(input);

function inputOf(input, requiresGrad) {
  if (!isTensor(input)) return input;
  const data = input.dtype === "int64" ? input.data.map(BigInt) : input.data;
  const { dtype, shape } = input;
  return eg.tensor(data, { dtype }).reshape(shape).requiresGrad_(requiresGrad);
}

// The first and the last three of 40 numbers after manualSeed(7), and the next float32 of the stream.
const kHalfDraws = {
  uniform_: {
    args: [-0.3, 0.7],
    next: 0.7405239939689636,
    float16: [
      -0.214599609375, 0.295654296875, -0.037841796875, -0.210693359375, 0.163330078125,
      0.254638671875,
    ],
    bfloat16: [0.3828125, 0.46484375, -0.203125, 0.4140625, 0.40625, 0.13671875],
  },
  normal_: {
    args: [1, 2],
    next: 0.26739025115966797,
    float16: [0.59375, -1.26953125, 0.466796875, 0.48779296875, 0.29296875, 0.201171875],
    bfloat16: [-0.9453125, 0.38671875, 0.1484375, -2.5, 4.53125, 2.015625],
  },
};

describe("draws in half precision are PyTorch's", () => {
  const ends = (tensor) => [
    ...tensor.narrow(0, 0, 3).dataSync(),
    ...tensor.narrow(0, 37, 3).dataSync(),
  ];
  const drawn = (dtype, draw) => {
    eg.manualSeed(7);
    return [
      ...draw(eg.zeros([40], { dtype }))
        .flatten()
        .dataSync(),
    ];
  };
  for (const dtype of ["float16", "bfloat16"]) {
    for (const [name, { args, next, ...expected }] of Object.entries(kHalfDraws)) {
      test(`${name} ${dtype}`, () => {
        eg.manualSeed(7);
        assert.deepEqual(ends(eg.zeros([40], { dtype })[name](...args)), expected[dtype]);
        assert.equal(eg.rand([]).item(), next);
      });
    }

    test(`the samplers of ${dtype} agree with each other`, () => {
      const standard = drawn(dtype, (x) => x.normal_());
      assert.deepEqual(
        drawn(dtype, () => eg.randn([40], { dtype })),
        standard,
      );
      assert.deepEqual(
        drawn(dtype, (x) => eg.randnLike(x)),
        standard,
      );
      assert.deepEqual(
        drawn(dtype, () => eg.normal(0, 1, { size: [40], dtype })),
        standard,
      );
      assert.deepEqual(
        drawn(dtype, (x) => eg.normal(x, 1)),
        standard,
      );
      const uniform = drawn(dtype, (x) => x.uniform_());
      assert.deepEqual(
        drawn(dtype, () => eg.rand([40], { dtype })),
        uniform,
      );
    });

    test(`uniform_ of ${dtype} never returns 1, and all its digits are used`, () => {
      eg.manualSeed(1);
      const numbers = eg.zeros([20_000], { dtype }).uniform_();
      assert.ok(numbers.max().item() < 1);
      assert.ok(numbers.min().item() >= 0);
      const digits = dtype === "float16" ? 2048 : 256;
      assert.equal(eg.unique(numbers).numel, digits);
    });
  }

  test("what is not contiguous is drawn singly", () => {
    eg.manualSeed(7);
    const x = eg.zeros([40, 2], { dtype: "float16" }).t();
    assert.deepEqual(
      [...x.select(0, 0).normal_().dataSync()].slice(0, 3),
      [-0.1468505859375, 0.7861328125, 0.94677734375],
    );
  });
});

describe(`draws are those of PyTorch ${torch}`, () => {
  for (const one of cases) {
    test(`${one.op} of ${one.result.dtype} after manualSeed(${one.seed})`, () => {
      const inputs = one.inputs.map((input) => inputOf(input, one.grads !== undefined));
      const rtol = one.result.dtype === "float32" ? 3e-7 : 2e-14;
      eg.manualSeed(one.seed);
      const drawn = eg[one.op](...inputs, ...one.rest);
      assert.equal(drawn.dtype, one.result.dtype);
      assertTensor(drawn, one.result.data, { shape: one.result.shape, rtol, atol: 0 });
      // The generator has also advanced by the same number of words.
      assertTensor(eg.rand([2], { dtype: "float64" }), one.next, { rtol: 0, atol: 0 });
      if (one.grads === undefined) return;
      const weights = eg.arange(1, drawn.numel + 1, { dtype: drawn.dtype }).reshape(drawn.shape);
      const tensors = inputs.filter((input) => input instanceof eg.Tensor);
      eg.autograd.grad(drawn.mul(weights).sum(), tensors).forEach((grad, i) => {
        assertTensor(grad, one.grads[i], { rtol });
      });
    });
  }
});

describe("multinomial", () => {
  const weights = eg.tensor([0.1, 0.4, 0, 0.3]);

  test("draws one with replacement as without", () => {
    for (let seed = 0; seed < 20; seed++) {
      const [a, b] = [true, false].map((replacement) => {
        eg.manualSeed(seed);
        const picked = eg.multinomial(weights, 1, { replacement }).item();
        return [picked, eg.rand([1]).item()];
      });
      assert.deepEqual(a, b);
    }
  });

  test("draws what has weight, as often as its weight says", () => {
    eg.manualSeed(0);
    const drawn = eg.multinomial(weights, 4000, true);
    const counts = [0, 1, 2, 3].map((i) => drawn.eq(i).sum().item() / 4000);
    assertClose(counts, [0.125, 0.5, 0, 0.375], { atol: 0.03 });
  });

  test("says what is wrong, and draws nothing", () => {
    eg.manualSeed(5);
    for (const [args, code, text] of [
      [[weights, 5], "InvalidArgument", /cannot draw 5 samples from 4 categories/],
      [[weights, 0], "InvalidArgument", /numSamples must be positive, got 0/],
      [[weights.neg(), 2, true], "InvalidArgument", /not negative, got -/],
      [[weights.div(0), 2], "InvalidArgument", /weights must be finite/],
      [[eg.zeros([3]), 2], "InvalidArgument", /positive sum, got 0/],
      [[eg.ones([2, 2, 2]), 1], "ShapeMismatch", /1 or 2 dimensions, got shape \[2, 2, 2\]/],
      [[eg.ones([2], { dtype: "int64" }), 1], "DtypeMismatch", /float32 or float64/],
    ]) {
      assertThrows(() => eg.multinomial(...args), code, text);
    }
    const after = eg.rand([1]).item();
    eg.manualSeed(5);
    assert.equal(after, eg.rand([1]).item());
  });
});

// The expected values are those of PyTorch 2.6.
describe("complex draws and integers of 64 bits", () => {
  const seeded = (draw) => {
    eg.manualSeed(0);
    return [...draw().dataSync()];
  };
  const z = () => eg.full([2], { re: 1, im: 1 });
  const int64 = () => eg.zeros([4], { dtype: "int64" });
  const [min, max] = [-(2n ** 63n), 2n ** 63n - 1n];

  test("complex numbers have parts whose variances add up to that of real ones", () => {
    const uniform = [
      0.4962565898895264, 0.7682217955589294, 0.08847743272781372, 0.13203048706054688,
    ];
    const normal = [1.0896, -0.2075, -1.5406, 0.4019];
    const complex64 = { dtype: "complex64" };
    const close = (draw, expected) => assertClose(seeded(draw), expected, { rtol: 0, atol: 1e-4 });
    close(() => eg.rand([2], complex64), uniform);
    close(() => eg.randLike(z()), uniform);
    close(() => eg.randLike(eg.ones([2]), complex64), uniform);
    close(() => z().uniform_(), uniform);
    close(() => eg.randn([2], complex64), normal);
    close(() => eg.randnLike(z()), normal);
    close(() => eg.randnLike(eg.ones([2]), complex64), normal);
    close(() => z().normal_(), normal);
    close(() => z().normal_(1, 2), [3.1793, 0.585, -2.0813, 1.8039]);
    const wide = seeded(() => eg.randnLike(z().to("complex128")));
    assert.deepEqual(
      wide,
      seeded(() => eg.randn([2], { dtype: "complex128" })),
    );
    const x = z().requiresGrad_();
    const y = x.clone();
    y.uniform_().abs().sum().backward();
    assert.deepEqual([...x.grad.dataSync()], [0, 0, 0, 0]);
    assert.equal(eg.randLike(eg.ones([2, 3], complex64).t()).strides[0], 1);
  });

  test("bigints are ends of random integers, over the whole range", () => {
    const all = [
      900450186894289455n,
      3969543146641149120n,
      1895649597198586619n,
      827948490035658087n,
    ];
    const wide = [
      900450186894289455n,
      510778632820608192n,
      742728092591739643n,
      827948490035658087n,
    ];
    const offset = [741280623151n, 506137267392n, 291447657211n, 841157541223n];
    for (const [draw, expected] of [
      [() => eg.randint(min, max, [4]), all],
      [() => eg.randint({ low: min, high: max, size: [4] }), all],
      [() => int64().random_(min, max), all],
      [() => int64().random_(), all],
      [() => int64().random_(2n ** 62n), all],
      [() => eg.randint(2n ** 60n, [4]), wide],
      [() => eg.randint(0, 2 ** 60, [4]), wide],
      [() => eg.randint(0n, 2n ** 60n, [2, 2]), wide],
      [() => eg.randintLike(int64(), 0, 2n ** 60n), wide],
      [() => eg.randintLike(int64(), 2n ** 60n), wide],
      [() => eg.randintLike(int64(), 2 ** 40), offset],
      [() => eg.randintLike(int64(), { low: 0, high: 2n ** 40n }), offset],
      [() => eg.randint(max - 1n, max, [4]), new Array(4).fill(max - 1n)],
    ]) {
      assert.deepEqual(seeded(draw), expected);
    }
    const generator = new eg.Generator(0);
    assert.deepEqual([...eg.randint(min, max, [4], { generator }).dataSync()], all);
    const like = eg.randintLike(eg.ones([3]), 1, 2);
    assert.deepEqual([like.dtype, like.arraySync()], ["float32", [1, 1, 1]]);
    assert.equal(eg.randintLike(eg.ones([3]), 5, { dtype: "int32" }).dtype, "int32");
    const mapped = eg.func.vmap((x) => eg.randintLike(x, 3n, 4), { randomness: "different" });
    assert.deepEqual(mapped(eg.ones([2, 2])).arraySync(), [
      [3, 3],
      [3, 3],
    ]);
  });

  test("ends that are none are refused", () => {
    const refuses = (draw, text) => assertThrows(draw, "InvalidArgument", text);
    refuses(() => eg.randint(min, 2n ** 63n, [1]), /64 bits/);
    refuses(() => eg.randint(max, min, [1]), /^\[randint\]/);
    refuses(() => int64().random_(0.5, 2), /from: expected a whole number/);
    refuses(() => int64().random_(true), /to: expected a whole number/);
    refuses(() => int64().random_(3n, 3n), /from < to/);
    refuses(() => eg.randint(0n, 2n ** 60n, [1], { dtype: "int32" }), /to - 1/);
    refuses(() => eg.randintLike(int64()), /^\[randintLike\] expected from < to/);
  });
});

describe("other draws", () => {
  test("say what is wrong", () => {
    const one = eg.ones([2]);
    for (const [draw, code, text] of [
      [() => eg.poisson(one.neg()), "InvalidArgument", /rates must not be negative, got -1/],
      [
        () => eg.binomial(one, eg.ones([2], { dtype: "float64" })),
        "DtypeMismatch",
        /float32 and float64/,
      ],
      [() => eg.binomial(one, eg.ones([3])), "ShapeMismatch", /\[3\]/],
      [() => eg.normal(one, -1), "InvalidArgument", /std >= 0/],
      [() => eg.normal(0, one.neg()), "InvalidArgument", /std must not be negative/],
      [() => eg.normal(0, 1), "InvalidArgument", /size/],
      [() => eg.normal(one, 1, [2]), "InvalidArgument", /size and dtype/],
      [() => one.geometric_(1), "InvalidArgument", /p between 0 and 1/],
      [() => one.cauchy_(0, 0), "InvalidArgument", /sigma > 0/],
      [() => one.logNormal_(0, 0), "InvalidArgument", /std > 0/],
      [() => eg.rrelu(one, 0.5, 0.1), "InvalidArgument", /greater than upper, got 0.5 and 0.1/],
    ]) {
      assertThrows(draw, code, text);
    }
    assert.deepEqual(one.arraySync(), [1, 1]);
  });

  test("have PyTorch's gradients: zero, or an error", () => {
    const leaf = () => eg.tensor([0.25, 0.5], { requiresGrad: true });
    for (const draw of [eg.poisson, (x) => eg.normal(x), (x) => eg.normal(1, x)]) {
      const x = leaf();
      draw(x).sum().backward();
      assert.deepEqual(x.grad.arraySync(), [0, 0]);
    }
    const drawn = eg.binomial(eg.tensor([4, 5]), leaf());
    assertThrows(() => drawn.sum().backward(), "NotDifferentiable", /binomial/);
  });
});

describe("the state of the generator", () => {
  test("resumes draws at any point", () => {
    eg.manualSeed(11);
    // One normal number is left over, and the generator's buffer of words is refilled more than once.
    eg.randn([3]);
    eg.rand([1000]);
    const state = eg.random.getState();
    const draw = () => [eg.randn([5]), eg.rand([700]), eg.randperm(9)].map((x) => x.arraySync());
    const expected = draw();
    eg.manualSeed(0);
    eg.random.setState(state);
    assert.deepEqual(draw(), expected);
    assert.equal(state.dtype, "uint8");
    assert.deepEqual(state.shape, [5056]);
  });

  test("knows its seed", () => {
    eg.manualSeed(123);
    assert.equal(eg.random.initialSeed(), 123);
    eg.manualSeed(2n ** 64n - 1n);
    assert.equal(eg.random.initialSeed(), 2n ** 64n - 1n);
    assert.equal(eg.random.seed(), eg.random.initialSeed());
  });

  test("refuses what is no state, and stays", () => {
    eg.manualSeed(1);
    const bytes = (length) => eg.zeros([length], { dtype: "uint8" });
    assertThrows(() => eg.random.setState(bytes(3)), "InvalidArgument", /got 3 bytes/);
    assertThrows(() => eg.random.setState(bytes(5056)), "InvalidArgument", /mt19937/);
    assertThrows(() => eg.random.setState(eg.zeros([5056])), "DtypeMismatch", /uint8/);
    assertThrows(() => eg.random.setState([1]), "InvalidArgument", /state/);
    assert.equal(eg.random.initialSeed(), 1);
  });
});

describe("Generator", () => {
  const draws = {
    rand: (options) => eg.rand([3], options),
    randVariadic: (options) => eg.rand(3, options),
    randn: (options) => eg.randn([20], { dtype: "float64", ...options }),
    randint: (options) => eg.randint(9, [5], options),
    randperm: (options) => eg.randperm(8, options),
    bernoulli: (options) => eg.bernoulli(eg.full([9], 0.5), options),
    multinomial: (options) => eg.multinomial(eg.ones([9]), 4, options),
    normal: (options) => eg.normal(0, eg.ones([4]), options),
    poisson: (options) => eg.poisson(eg.full([9], 3), options),
    uniform_: (options) => eg.zeros([4]).uniform_(0, 2, options),
    exponential_: (options) => eg.zeros([4]).exponential_(options),
    random_: (options) => eg.zeros([4]).random_(options),
  };

  for (const [name, draw] of Object.entries(draws)) {
    test(`${name}: draws what the common generator would, and leaves it alone`, () => {
      eg.manualSeed(42);
      const expected = [draw(), draw()].map((x) => x.arraySync());
      const generator = new eg.Generator(42);
      const before = eg.random.getState();
      const actual = [draw({ generator }), draw({ generator })].map((x) => x.arraySync());
      assert.deepEqual(actual, expected);
      assert.ok(eg.equal(eg.random.getState(), before));
      // null means the global generator.
      draw({ generator: null });
      assert.ok(!eg.equal(eg.random.getState(), before));
    });
  }

  test("begins at PyTorch's seed, and anywhere else", () => {
    const generator = new eg.Generator();
    assert.equal(generator.initialSeed(), 67280421310721);
    assert.equal(generator.manualSeed(3), generator);
    assert.equal(generator.initialSeed(), 3);
    const state = generator.getState();
    const first = eg.rand([2], { generator }).arraySync();
    generator.setState(state);
    assert.deepEqual(eg.rand([2], { generator }).arraySync(), first);
    assert.equal(generator.seed(), generator.initialSeed());
    assertThrows(() => generator.setState(eg.zeros([2], { dtype: "uint8" })), "InvalidArgument");
  });

  test("is left as it was by a draw that fails", () => {
    const generator = new eg.Generator(1);
    const before = generator.getState();
    assertThrows(() => eg.multinomial(eg.ones([2]), 3, { generator }), "InvalidArgument");
    assert.ok(eg.equal(generator.getState(), before));
    const common = eg.random.getState();
    eg.rand([1]);
    assert.ok(!eg.equal(eg.random.getState(), common));
  });

  test("is refused where it is none", () => {
    assertThrows(() => new eg.Generator(0.5), "InvalidArgument", /seed/);
    assertThrows(() => eg.rand([2], { generator: 5 }), "InvalidArgument", /a Generator/);
    assertThrows(() => eg.zeros([2], { generator: null }), "InvalidArgument", /generator/);
  });
});
