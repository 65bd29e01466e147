// Sizes, counts, strides and positions from outside may have any value: they cause OutOfMemory or another
// named error, and never access memory of other tensors.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const k31 = 2 ** 31;
const k32 = 2 ** 32;
const kMost = Number.MAX_SAFE_INTEGER;

// Neighbors in memory whose contents must not change.
const canaries = [1, 4, 16, 64, 1024, 65536].map((size) => eg.full([size], 7));
const assertUnharmed = () => {
  for (const canary of canaries)
    assert.ok(canary.eq(7).all().item(), `a tensor of ${canary.shape}`);
  assertTensor(eg.tensor([1, 2]).add(1), [2, 3]);
};
after(assertUnharmed);

const outOfMemory = (fn, name) => {
  assertThrows(fn, "OutOfMemory", name ?? /^\[/);
  assertUnharmed();
};

describe("sizes that wrap in 32 bits", () => {
  test("of factories", () => {
    for (const size of [k31, k32, k32 + 1, k32 + 5, kMost]) {
      outOfMemory(() => eg.empty([size]), /^\[empty\]/);
      outOfMemory(() => eg.zeros([size]), /^\[zeros\]/);
      outOfMemory(() => eg.ones([2, size]), /^\[ones\]/);
      outOfMemory(() => eg.full([size], 1), /^\[full\]/);
      outOfMemory(() => eg.arange(size), /^\[arange\]/);
      outOfMemory(() => eg.linspace(0, 1, size), /^\[linspace\]/);
      outOfMemory(() => eg.eye(size), /^\[eye\]/);
      outOfMemory(() => eg.rand([size]), /^\[rand\]/);
      outOfMemory(() => eg.randn([size]), /^\[randn\]/);
      outOfMemory(() => eg.randint(0, 2, [size]), /^\[randint\]/);
      outOfMemory(() => eg.randperm(size), /^\[randperm\]/);
    }
    outOfMemory(() => eg.empty([k32 / 4 + 1]));
    outOfMemory(() => eg.empty([65536, 65536]));
    outOfMemory(() => eg.empty([kMost, kMost]));
    outOfMemory(() => eg.empty([k32, k32, 0]));
    outOfMemory(() => eg.arange(-kMost, kMost));
  });

  test("of results", () => {
    const x = eg.rand([65536]);
    outOfMemory(() => x.unsqueeze(1).sub(x.unsqueeze(0)), /^\[sub\]/);
    outOfMemory(() => x.unsqueeze(1).matmul(x.unsqueeze(0)), /^\[matmul\]/);
    outOfMemory(() => x.outer(x));
    outOfMemory(() => eg.oneHot(eg.tensor([1n]), k32 + 1), /^\[one_hot\]|^\[oneHot\]/);
    outOfMemory(() => eg.oneHot(eg.tensor([2n ** 63n - 2n])));
    outOfMemory(() => x.repeat([k31]), /^\[repeat\]/);
    outOfMemory(() => x.repeat([k32, k32]));
    outOfMemory(() => x.tile([k32]));
    outOfMemory(() => x.repeatInterleave(k32 + 1));
    outOfMemory(() => eg.empty([0]).chunk(k32 + 1), /^\[chunk\]/);
    outOfMemory(() => eg.ones([1]).expand([k32]).unbind(), /^\[unbind\]/);
    outOfMemory(() => eg.ones([1]).expand([k32]).split(1), /^\[split\]/);
    outOfMemory(() => eg.ones([1]).expand([k32]).clone());
    outOfMemory(() => eg.ones([1]).expand([kMost]).contiguous());
    outOfMemory(() => eg.ones([1, 1, 4, 4]).pad([k32, k32]));
    outOfMemory(() => eg.ones([1, 1, 4]).interpolate({ size: k32 }));
    outOfMemory(() => eg.ones([2]).diag(k32));
    outOfMemory(() => eg.cat([eg.ones([1]).expand([k32]), eg.ones([1])]));
    outOfMemory(() => eg.ones([1, 1, 2, 2]).adaptiveAvgPool2d([k32, 1]));
    outOfMemory(() => eg.ones([4]).fft(k32));
  });
});

describe("views", () => {
  test("whose sizes multiply to something else are refused", () => {
    assertThrows(() => eg.empty([0]).view([k32, k32]), "ShapeMismatch", /cannot view 0 elements/);
    assertThrows(() => eg.empty([0]).reshape(k32, k32), "ShapeMismatch", /cannot view 0 elements/);
    assertThrows(
      () => eg.ones([1]).reshape([274177, 67280421310721]),
      "ShapeMismatch",
      /cannot view 1 elements/,
    );
    assertThrows(
      () => eg.ones([4]).unflatten(0, [k32, k31, 2]),
      "ShapeMismatch",
      /cannot view 4 elements/,
    );
    assertThrows(() => eg.empty([0]).view([0, k32, k32]), "OutOfMemory", /^\[view\]/);
    assertThrows(() => eg.ones([1]).expand([k32, k32]), "OutOfMemory", /^\[expand\]/);
    assertUnharmed();
  });

  test("that leave their storage are refused", () => {
    const x = eg.ones([16]);
    for (const [size, stride, offset] of [
      [[2 ** 44 + 1], [2 ** 20]],
      [[2], [kMost]],
      [
        [2, 2],
        [kMost, kMost],
      ],
      [[kMost], [kMost]],
      [[1], [1], 16],
      [[1], [1], kMost],
      [[17], [1]],
    ]) {
      assertThrows(
        () => x.asStrided(size, stride, offset),
        "IndexOutOfRange",
        /does not fit the storage of 16/,
      );
    }
    assertUnharmed();
    // The stride does not matter for a dimension with a single element.
    assertTensor(x.asStrided([1], [kMost]), [1]);
    assertTensor(x.asStrided([1], [kMost]).at(eg.slice(null, null, kMost)), [1]);
    assertTensor(x.at(eg.slice(3, null, kMost)), [1]);
    assert.deepEqual(eg.ones([3]).unfold(0, 1, kMost).shape, [1, 1]);
  });
});

test("dimensions of indices are checked before they are narrowed", () => {
  const x = eg.zeros([4]);
  for (const dim of [kMost, k32, k32 + 1, -1]) {
    assert.throws(() => eg.indexPut_(x, [eg.tensor([1n])], 5, { dims: [dim] }), eg.EdgeGradError);
  }
  assertTensor(x, [0, 0, 0, 0]);
  assertUnharmed();
});

test("convolutions and pools with numbers of any size", () => {
  const x = eg.ones([1, 1, 5, 5]);
  const weight = eg.ones([1, 1, 3, 3]);
  for (const value of [k31, k32, kMost, 2 ** 40]) {
    for (const options of [
      { stride: value },
      { padding: value },
      { dilation: value },
      { groups: value },
      { stride: value, padding: value },
      { dilation: value, padding: value },
      { stride: value, padding: value, dilation: value },
    ]) {
      for (const call of [
        () => eg.conv2d(x, weight, options),
        () => eg.convTranspose2d(x, weight, options),
        () => eg.maxPool2d(x, 3, options),
        () => eg.avgPool2d(x, 3, { ...options, dilation: undefined, groups: undefined }),
      ]) {
        try {
          const result = call();
          assert.ok(result.numel <= 25, `${result.shape}`);
        } catch (error) {
          assert.ok(error instanceof eg.EdgeGradError, error.stack);
          assert.notEqual(error.code, "Internal", error.message);
        }
      }
    }
  }
  assertTensor(eg.conv2d(x, weight, { stride: kMost }), [9], { shape: [1, 1, 1, 1] });
  assertTensor(eg.conv2d(x, eg.ones([1, 1, 1, 1]), { stride: 3, dilation: kMost }), [1, 1, 1, 1]);
  assertUnharmed();
});

describe("dimensions", () => {
  const manyOnes = (count) => new Array(count).fill(1);

  test("are 64 at most, wherever shapes are made", () => {
    const x = eg.ones([3]);
    assert.equal(eg.ones(manyOnes(64)).ndim, 64);
    assert.equal(x.reshape([...manyOnes(63), 3]).ndim, 64);
    assert.equal(x.repeat([...manyOnes(63), 2]).numel, 6);
    const full = eg.ones(manyOnes(64));
    for (const call of [
      () => eg.ones(manyOnes(65)),
      () => x.tile(manyOnes(300)),
      () => x.reshape([...manyOnes(64), 3]),
      () => x.expand([...manyOnes(64), 3]),
      () => x.repeat(manyOnes(65)),
      () => full.unsqueeze(0),
      () => eg.stack([full, full]),
      () => full.unflatten(0, [1, 1]),
      () => full.at(null),
      () => eg.tensor([1], { shape: manyOnes(300) }),
      () => x.asStrided(manyOnes(300), manyOnes(300)),
    ]) {
      assertThrows(call, "InvalidArgument", /at most 64 dimensions/);
    }
    assertUnharmed();
  });

  test("many of them change nothing for what comes after", () => {
    const full = eg.ones(manyOnes(64), { requiresGrad: true });
    full
      .mul(2)
      .permute([...full.shape.keys()].reverse())
      .sum()
      .backward();
    assert.equal(full.grad.ndim, 64);
    assert.equal(full.grad.item(), 2);
    assertUnharmed();
  });
});

test("lists of thousands of results leave the call frame whole", () => {
  const parts = eg.arange(3000).unbind();
  assert.equal(parts.length, 3000);
  assert.equal(eg.stack(parts).sum().item(), 4498500);
  assertUnharmed();
});
