// Arguments: an unknown option, one too many, one of the wrong kind is refused, and the message names who
// was called, the argument, and what was most likely meant.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "./support/assert.mjs";
import { eg } from "./support/engine.mjs";

describe("functions that make tensors", () => {
  test("refuse options they do not have", () => {
    const meant = /\[zeros\] unknown option "requires_grad"\. Did you mean "requiresGrad"\?/;
    assertThrows(() => eg.zeros([2], { requires_grad: true }), "InvalidArgument", meant);
    assertThrows(() => eg.tensor([1], { typ: 1 }), "InvalidArgument", /\[tensor\].*"dtype"/);
    assertThrows(() => eg.full([2], 1, { grad: 1 }), "InvalidArgument", /\[full\].*"requiresGrad"/);
    assertThrows(() => eg.randn([2], { foo: 1 }), "InvalidArgument", /\[randn\].*"foo"/);
  });

  test("refuse values of the wrong kind", () => {
    assertThrows(() => eg.tensor([1], 0.5), "InvalidArgument", /\[tensor\] expected an object/);
    assertThrows(() => [1, 2].map(eg.tensor), "InvalidArgument", /\[tensor\]/);
    assertThrows(() => eg.tensor([1], {}, 2), "InvalidArgument", /\[tensor\] too many arguments/);
    assertThrows(() => eg.tensor(1, { requiresGrad: 1 }), "InvalidArgument", /true or false/);
    assertThrows(() => eg.zeros([1], { requiresGrad: "no" }), "InvalidArgument", /\[zeros\]/);
    assertThrows(() => eg.tensor([1], { shape: [1.5] }), "InvalidArgument", /shape.*\[1\.5\]/);
    assertThrows(() => eg.zeros([1], { device: "cuda" }), "InvalidArgument", /"cpu", "webgpu"/);
  });

  test("are named in the errors of the memory they ask for", () => {
    for (const make of ["zeros", "ones", "rand", "randn"]) {
      assertThrows(() => eg[make]([-1]), "InvalidArgument", new RegExp(`\\[${make}\\]`));
    }
    assertThrows(() => eg.full([-1], 1), "InvalidArgument", /\[full\]/);
  });

  test("end what a list that holds itself begins", () => {
    const [first, second] = [[], [1]];
    first.push(first);
    second.push(second);
    for (const endless of [first, second]) {
      assertThrows(() => eg.tensor(endless), "InvalidArgument", /at most 64 dimensions/);
    }
  });

  test("full has the type of tensor()", () => {
    assert.equal(eg.full([2], 1).dtype, "float32");
    assert.equal(eg.full([2], 0.9).dtype, "float32");
    assert.equal(eg.full([2], true).dtype, "bool");
    assert.equal(eg.full([2], 3n).dtype, "int64");
    assert.equal(eg.full([2], 3, { dtype: "int64" }).dtype, "int64");
    assert.equal(eg.fullLike(eg.zeros([2], { dtype: "int32" }), 1).dtype, "int32");
    assertTensor(eg.full([2], 1.5, { requiresGrad: true }), [1.5, 1.5]);
  });

  test("tensor() takes tensors among its numbers", () => {
    assertTensor(eg.tensor([eg.tensor(1), eg.tensor(2)]), [1, 2], { shape: [2] });
    assertTensor(eg.tensor([[eg.tensor(1), 2]]), [1, 2], { shape: [1, 2] });
    assertTensor(eg.tensor([eg.tensor([1, 2]), [3, 4]]), [1, 2, 3, 4], { shape: [2, 2] });
    assert.equal(eg.tensor([eg.tensor(1, { dtype: "int32" })]).dtype, "int32");
    assert.equal(eg.tensor([eg.tensor([true])]).dtype, "bool");
    assert.equal(eg.tensor([eg.complex(eg.ones(1), eg.ones(1))]).dtype, "complex64");
    assert.equal(eg.tensor([eg.ones([1], { requiresGrad: true })]).requiresGrad, false);
    assertThrows(() => eg.tensor([eg.ones(2), eg.ones(3)]), "ShapeMismatch");
    assertTensor(eg.tensor(eg.ones(4), { shape: [2, 2] }), [1, 1, 1, 1], { shape: [2, 2] });
  });
});

describe("ops", () => {
  const x = eg.ones([2, 2]);

  test("say what an unknown option was meant to be", () => {
    assertThrows(() => x.sum({ axis: 0 }), "InvalidArgument", /Did you mean "dim"/);
    assertThrows(() => x.sum({ keepDim: true }), "InvalidArgument", /Did you mean "keepdim"/);
    assertThrows(() => x.add_(1, { alhpa: 2 }), "InvalidArgument", /\[add_\].*"alpha"/);
    assertThrows(() => x.relu({ quux: true }), "InvalidArgument", /"quux"\. It is called as relu/);
  });

  test("to() says what there is", () => {
    assertThrows(() => x.to("cuda"), "InvalidArgument", /\[to\].*"cpu", "webgpu".*"float32"/);
    assertThrows(() => x.to({ dytpe: "int32" }), "InvalidArgument", /Did you mean "dtype"/);
    for (const target of [null, undefined, 1, [], true]) {
      assertThrows(() => x.to(target), "InvalidArgument", /\[to\] expected a device/);
    }
  });
});
