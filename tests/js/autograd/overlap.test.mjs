// Writes to tensors whose elements share memory, which PyTorch rejects.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { opTable, samplesOf } from "../support/op_samples.mjs";

const kShared = /several elements .* share one memory location/;
const kPartial = /an input overlaps the memory/;

// Setting all elements to one value has the same result however often an element is written.
const kHarmless = new Set(["fill_", "zero_", "fillDiagonal_"]);
// These change the tensor's shape, not its elements.
const kViews = new Set(["transpose", "swapaxes", "t", "squeeze", "unsqueeze"]);

/** Calls of all ops that write into their first argument, on tensors that require no gradient. */
function* writers() {
  for (const op of opTable) {
    if (op.kind === "internal") continue;
    const writes = op.js.endsWith("_");
    if (!writes && (!op.inplace || kViews.has(op.js))) continue;
    const name = writes ? op.js : `${op.js}_`;
    const [sample] = samplesOf(op).filter(({ text }) => text.startsWith("T"));
    if (sample === undefined || kHarmless.has(name)) continue;
    const args = sample.make().map((arg) => (arg instanceof eg.Tensor ? arg.detach() : arg));
    yield { name, args };
  }
}

describe("a tensor whose elements share places is not written to", () => {
  for (const { name, args } of writers()) {
    test(name, () => {
      const [first, ...rest] = args;
      if (first.ndim === 0 || first.numel < 2) return;
      const memory = first.select(0, 0).clone();
      const expanded = memory.unsqueeze(0).expand(first.shape);
      if (first.shape[0] === 1) return;
      const before = [...memory.dataSync()];
      assertThrows(() => eg[name](expanded, ...rest), "InvalidArgument", kShared);
      assertTensor(memory, before);
      assert.equal(memory.version, 0);
    });
  }

  test("set_, indexPut_, copy_", () => {
    // rule: overlap-not-written
    const memory = eg.ones([3]);
    const x = memory.expand([2, 3]);
    const index = eg.tensor([0], { dtype: "int64" });
    assertThrows(() => x.copy_(eg.zeros([2, 3])), "InvalidArgument", kShared);
    assertThrows(() => x.set_([index], 5), "InvalidArgument", kShared);
    assertThrows(() => x.set_(["..."], eg.zeros([2, 3])), "InvalidArgument", kShared);
    assertThrows(() => eg.nn.init.normal_(x), "InvalidArgument", kShared);
    assertTensor(memory, [1, 1, 1]);
    // A single row contains every element once.
    x.at(0).add_(1);
    assertTensor(x, [2, 2, 2, 2, 2, 2]);
  });

  test("but filled it may be", () => {
    const memory = eg.ones([3]);
    const x = memory.expand([2, 3]);
    assertTensor(x.fill_(4), [4, 4, 4, 4, 4, 4]);
    assertTensor(x.fill_(eg.tensor(5)), [5, 5, 5, 5, 5, 5]);
    assertTensor(x.fill_(x.at(0, 0)), [5, 5, 5, 5, 5, 5]);
    x.zero_();
    assertTensor(memory, [0, 0, 0]);
    assert.equal(memory.version, 4);
    x.set_(["..."], 6);
    x.set_([eg.slice(), 1], eg.tensor(7));
    assertTensor(memory, [6, 7, 6]);
  });

  for (const name of ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"]) {
    test(name, () => {
      const memory = eg.ones([1, 3]);
      const param = memory.expand([2, 3]).requiresGrad_();
      const optimizer = new eg.optim[name]([param], { lr: 0.1 });
      param.sum().backward();
      assertThrows(() => optimizer.step(), "InvalidArgument", kShared);
      assertTensor(memory, [1, 1, 1]);
    });
  }
});

describe("an operand that partly overlaps the target is rejected", () => {
  const square = () => eg.arange(9, { dtype: "float32" }).reshape([3, 3]);
  const calls = {
    "add_ of the transposed": (x) => x.add_(x.t()),
    "copy_ of the transposed": (x) => x.copy_(x.t()),
    "copy_ of rows moved by one": (x) => x.narrow(0, 1, 2).copy_(x.narrow(0, 0, 2)),
    "mul_ by one of its elements": (x) => x.mul_(x.at(1, 1)),
    addcmul_: (x) => x.addcmul_(x.t(), eg.ones([3, 3])),
    lerp_: (x) => x.lerp_(x.t(), 0.5),
    addmm_: (x) => x.narrow(0, 1, 2).addmm_(x.narrow(0, 0, 2), eg.eye(3)),
    "set_ of rows moved by one": (x) => x.set_([eg.slice(1)], x.at(eg.slice(0, 2))),
  };
  const places = eg.tensor([0, 1, 2], { dtype: "int64" });
  for (const name of ["indexAdd_", "indexCopy_", "scatter_", "scatterAdd_"]) {
    const index = name.startsWith("scatter") ? places.unsqueeze(1).expand([3, 3]) : places;
    calls[`${name} of the tensor itself`] = (x) => x[name](0, index, x);
  }
  calls["indexPut_ of the tensor itself"] = (x) => x.indexPut_([places], x);
  for (const [what, call] of Object.entries(calls)) {
    test(what, () => {
      const x = square();
      assertThrows(() => call(x), "InvalidArgument", kPartial);
      assertTensor(x, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    });
  }

  test("the target itself, other elements and views with gaps are not", () => {
    const x = eg.tensor([1, 2, 3, 4]);
    assertTensor(x.mul_(x), [1, 4, 9, 16]);
    assertTensor(x.copy_(x), [1, 4, 9, 16]);
    x.narrow(0, 0, 2).add_(x.narrow(0, 2, 2));
    assertTensor(x, [10, 20, 9, 16]);
    x.at(eg.slice(null, null, 2)).add_(x.at(eg.slice(1, null, 2)));
    assertTensor(x, [30, 20, 25, 16]);
  });
});

test("an in-place comparison of a recorded tensor writes to it", () => {
  const x = eg.tensor([0.75, 0], { requiresGrad: true }).clone();
  assert.equal(x.logicalNot_(), x);
  assertTensor(x, [0, 1]);
  const y = eg.tensor([1, 2], { requiresGrad: true }).mul(1);
  assertTensor(y.gt_(1.5), [0, 1]);
});
