// logsumexp, replaced values and convolutions of complex numbers.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertTensor } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { makeRandom } from "../support/op_samples.mjs";

function random(shape, seed = String(shape), dtype = "complex128") {
  const draw = makeRandom(seed);
  const count = shape.reduce((a, b) => a * b, 1);
  const values = Array.from({ length: count }, () => ({ re: 2 * draw() - 1, im: 2 * draw() - 1 }));
  return eg.tensor(values, { shape, dtype });
}

const partsOf = (tensor) => eg.viewAsReal(tensor).dataSync();
const assertSame = (actual, expected, options) => {
  assert.deepEqual(actual.shape, expected.shape);
  assertClose(partsOf(actual), partsOf(expected), { rtol: 1e-9, atol: 1e-9, ...options });
};
const complex = (...pairs) =>
  eg.tensor(
    pairs.map(([re, im]) => ({ re, im })),
    { dtype: "complex128" },
  );

const kOptions = { atol: 1e-6, rtol: 1e-4 };
function checkGradients(f, ...inputs) {
  const leaves = inputs.map((input) => input.detach().requiresGrad_());
  assert.ok(eg.autograd.gradcheck(f, leaves, kOptions));
  assert.ok(eg.autograd.gradgradcheck(f, leaves, kOptions));
}

describe("values are those of the definition", () => {
  test("logsumexp", () => {
    const z = random([3, 4]);
    assertSame(z.logsumexp(1), z.exp().sum(1).log());
    assertSame(z.logsumexp([0, 1], true), z.exp().sum([0, 1], true).log());
    assertSame(random([]).logsumexp(0), random([]));
    assert.equal(z.to("complex64").logsumexp(0).dtype, "complex64");
    // Numbers whose exponentials overflow.
    const far = z.add(1000);
    assertSame(far.logsumexp(1), z.logsumexp(1).add(1000), { rtol: 1e-12 });
    const none = complex([-Infinity, 0], [-Infinity, 0]).logsumexp(0);
    assert.equal(none.real().item(), -Infinity);
  });

  test("logaddexp, of a number too", () => {
    const [a, b] = [random([3], "a"), random([3], "b")];
    assertSame(a.logaddexp(b), a.exp().add(b.exp()).log());
    assertSame(a.logaddexp(0.5), a.exp().add(Math.exp(0.5)).log());
    assertSame(
      eg.logaddexp(eg.tensor([1, 2, 3], { dtype: "float64" }), a),
      a
        .exp()
        .add(eg.tensor([1, 2, 3], { dtype: "float64" }).exp())
        .log(),
    );
    assertSame(a.add(900).logaddexp(b.add(900)), a.logaddexp(b).add(900), { rtol: 1e-12 });
    assertSame(a.clone().logaddexp_(b), a.logaddexp(b));
    assertSame(complex([-Infinity, 0]).logaddexp(complex([1, 2])), complex([1, 2]));
    assert.equal(
      complex([-Infinity, 0])
        .logaddexp(complex([-Infinity, 0]))
        .real()
        .item(),
      -Infinity,
    );
  });

  test("logcumsumexp", () => {
    const z = random([2, 5]);
    assertSame(z.logcumsumexp(1), z.exp().cumsum(1).log());
    assertSame(z.logcumsumexp(0), z.exp().cumsum(0).log());
    assertSame(random([]).logcumsumexp(0), random([]));
    assert.equal(eg.zeros([0], { dtype: "complex64" }).logcumsumexp(0).numel, 0);
  });

  test("nanToNum, of each part", () => {
    const z = complex([1, 2], [Number.NaN, 3], [Infinity, Number.NaN], [4, -Infinity]);
    const { max } = eg.finfo("float64");
    assertTensor(eg.viewAsReal(z.nanToNum()), [1, 2, 0, 3, max, 0, 4, -max]);
    assertTensor(eg.viewAsReal(z.nanToNum(7, 8, 9)), [1, 2, 7, 3, 8, 7, 4, 9]);
    assertTensor(eg.viewAsReal(z.nanToNum({ neginf: 9 })), [1, 2, 0, 3, max, 0, 4, 9]);
    assertTensor(eg.viewAsReal(z.clone().nanToNum_(7, 8, 9)), [1, 2, 7, 3, 8, 7, 4, 9]);
    assertTensor(eg.tensor([Number.NaN, Infinity]).nanToNum(null, 5), [0, 5]);
    const leaf = z.detach().requiresGrad_();
    leaf.nanToNum().real().sum().backward();
    assertTensor(eg.viewAsReal(leaf.grad), [1, 0, 0, 0, 0, 0, 0, 0]);
  });
});

describe("gradients agree with finite differences", () => {
  test("logsumexp", () => checkGradients((z) => z.logsumexp(1), random([2, 3])));
  test("logaddexp", () =>
    checkGradients((a, b) => a.logaddexp(b), random([2, 3], "a"), random([3], "b")));
  test("logcumsumexp", () => checkGradients((z) => z.logcumsumexp(0), random([4])));
  test("nanToNum", () => checkGradients((z) => z.nanToNum(), random([3])));
});

// Computes a convolution of [C_out, C_in / groups, K] and [N, C_in, L] by its definition.
function convolved(x, w, { stride = 1, padding = 0, dilation = 1, groups = 1 }) {
  const [n, channels, length] = x.shape;
  const [outputs, inner, taps] = w.shape;
  const padded = eg.cat(
    [
      eg.zeros([n, channels, padding], { dtype: x.dtype }),
      x,
      eg.zeros([n, channels, padding], { dtype: x.dtype }),
    ],
    2,
  );
  const count = Math.floor((length + 2 * padding - dilation * (taps - 1) - 1) / stride) + 1;
  const rows = [];
  for (let o = 0; o < outputs; o++) {
    const first = Math.floor(o / (outputs / groups)) * inner;
    const places = [];
    for (let i = 0; i < count; i++) {
      const seen = padded
        .narrow(1, first, inner)
        .at("...", eg.slice(i * stride, i * stride + dilation * (taps - 1) + 1, dilation));
      places.push(seen.mul(w.at(o)).sum([1, 2]));
    }
    rows.push(eg.stack(places, -1));
  }
  return eg.stack(rows, 1);
}

describe("convolutions", () => {
  for (const options of [{}, { stride: 2, padding: 1 }, { dilation: 2, groups: 2, padding: 2 }]) {
    const { groups = 1 } = options;
    const [x, w, b] = [random([2, 4, 7]), random([6, 4 / groups, 3]), random([6])];

    test(`conv1d ${JSON.stringify(options)} is its definition, with gradients`, () => {
      assertSame(eg.conv1d(x, w, options), convolved(x, w, options));
      const withBias = convolved(x, w, options).add(b.unsqueeze(-1));
      assertSame(eg.conv1d(x, w, b, options), withBias);
      const small = [random([1, 2, 4]), random([2, 2 / groups, 2]), random([2])];
      checkGradients((...args) => eg.conv1d(...args, options), ...small);
    });

    test(`conv2d ${JSON.stringify(options)} of one row is conv1d, with gradients`, () => {
      const [stride, padding, dilation] = [
        [1, options.stride ?? 1],
        [0, options.padding ?? 0],
        [1, options.dilation ?? 1],
      ];
      const wide = eg.conv2d(x.unsqueeze(2), w.unsqueeze(2), b, {
        stride,
        padding,
        dilation,
        groups,
      });
      assertSame(wide.squeeze(2), eg.conv1d(x, w, b, options));
      const small = [random([1, 2, 3, 3]), random([2, 2 / groups, 2, 2]), random([2])];
      checkGradients((...args) => eg.conv2d(...args, { ...options, dilation: 1 }), ...small);
    });
  }

  test("transposed ones are the adjoints of plain ones", () => {
    const [x, w, y] = [random([2, 3, 5]), random([4, 3, 2]), random([2, 4, 4], "y")];
    const inner = (a, b) => a.mul(b.conj()).sum();
    const there = inner(eg.conv1d(x, w), y);
    const back = inner(x, eg.convTranspose1d(y, w.conj()));
    assertSame(there, back);
    checkGradients((a, b) => eg.convTranspose2d(a, b), random([1, 2, 2, 2]), random([2, 1, 2, 2]));
  });

  test("a batch may be left out, and dtypes must agree", () => {
    const [x, w] = [random([2, 5]), random([3, 2, 2])];
    assertSame(eg.conv1d(x, w), eg.conv1d(x.unsqueeze(0), w).squeeze(0));
    assert.equal(eg.conv1d(x.to("complex64"), w.to("complex64")).dtype, "complex64");
    assert.throws(() => eg.conv1d(x, w.real().clone()), { code: "DtypeMismatch" });
    assertSame(eg.conv1d(x, w, { padding: "same" }).narrow(-1, 0, 4), eg.conv1d(x, w));
  });
});
