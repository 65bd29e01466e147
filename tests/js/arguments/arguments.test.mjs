// Arguments: unknown options, too many arguments and arguments of the wrong kind are rejected, and the message names
// the function, the argument, and the option that was most likely meant.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertRejects, assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { opTable, samplesOf } from "../support/op_samples.mjs";

describe("functions that make tensors", () => {
  test("refuse options they do not have", () => {
    const message = /\[zeros\] unknown option "requires_grad"\. Did you mean "requiresGrad"\?/;
    assertThrows(() => eg.zeros([2], { requires_grad: true }), "InvalidArgument", message);
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

  test("to() of several targets does what each of them says", () => {
    const linear = new eg.nn.Linear(1, 1).to("float64", { device: "cpu" });
    assert.equal(linear.weight.dtype, "float64");
    assert.equal(x.to({ dtype: "int32" }, { device: "cpu" }).dtype, "int32");
  });

  test("to() says what there is", () => {
    assertThrows(() => x.to("cuda"), "InvalidArgument", /\[to\].*"cpu", "webgpu".*"float32"/);
    assertThrows(() => x.to({ dytpe: "int32" }), "InvalidArgument", /Did you mean "dtype"/);
    for (const target of [null, undefined, 1, [], true]) {
      assertThrows(() => x.to(target), "InvalidArgument", /\[to\] expected a device/);
    }
  });
});

describe("autograd", () => {
  const { autograd } = eg;
  const x = eg.ones([2], { requiresGrad: true });
  const square = (input) => input.mul(input).sum();
  const loss = () => square(x);

  test("refuses options it does not have", () => {
    const { functional, forwardAd } = autograd;
    assert.ok(forwardAd);
    const cases = {
      grad: () => autograd.grad(loss(), x, { create_graph: true }),
      backward: () => autograd.backward(loss(), { retain_graph: true }),
      gradcheck: () => autograd.gradcheck(square, x, { Eps: 1 }),
      gradgradcheck: () => autograd.gradgradcheck(square, x, { grad_outputs: 1 }),
      jacobian: () => functional.jacobian(square, x, { create_graph: true }),
      hessian: () => functional.hessian(square, x, { Strict: true }),
      vjp: () => functional.vjp(square, x, null, { create_graph: true }),
      jvp: () => functional.jvp(square, x, x, { create_graph: true }),
      vhp: () => functional.vhp(square, x, x, { create_graph: true }),
      hvp: () => functional.hvp(square, x, x, { create_graph: true }),
      detectAnomaly: () => autograd.detectAnomaly(() => 1, { check_nan: true }),
      toDot: () => autograd.toDot(loss(), { show_saved: true }),
    };
    for (const [name, call] of Object.entries(cases)) {
      const text = new RegExp(`\\[${name}\\] unknown option .*Did you mean`);
      assertThrows(call, "InvalidArgument", text);
    }
  });

  test("refuses options of the wrong kind, and too many", () => {
    assertThrows(
      () => autograd.grad(loss(), x, true),
      "InvalidArgument",
      /\[grad\] gradOutputs: expected a tensor/,
    );
    assertThrows(() => autograd.grad(loss(), x, {}, {}), "InvalidArgument", /gradOutputs/);
    assertThrows(
      () => autograd.grad(loss(), x, { createGraph: 1 }),
      "InvalidArgument",
      /createGraph/,
    );
    assertThrows(() => autograd.grad(loss(), [x, 1]), "InvalidArgument", /expected a tensor/);
    assertThrows(() => autograd.grad(loss(), x, { gradOutputs: 0 }), "InvalidArgument", /a tensor/);
    assertThrows(() => autograd.gradcheck(3, x), "InvalidArgument", /\[gradcheck\].*a function/);
    assertThrows(() => autograd.backward(loss(), { inputs: [1] }), "InvalidArgument", /inputs/);
  });

  test("backward() says where options go", () => {
    const message = /\[backward\] .*backward\(null, \{ \.\.\. \}\)/;
    assertThrows(() => loss().backward({ retainGraph: true }), "InvalidArgument", message);
    assertThrows(() => loss().backward(true), "InvalidArgument", /\[backward\] expected a tensor/);
    const misspelled = () => loss().backward(null, { create_graph: true });
    assertThrows(misspelled, "InvalidArgument", /\[backward\].*"createGraph"/);
    assert.equal(x.grad, null);
    loss().backward(null, { retainGraph: null, inputs: x });
    assertTensor(x.grad, [2, 2]);
  });

  test("backwardAsync() and gradAsync() reject", async () => {
    const wrong = loss().backwardAsync(null, { retain_graph: true });
    await assertRejects(wrong, "InvalidArgument", /\[backwardAsync\].*"retainGraph"/);
    const other = autograd.gradAsync(loss(), x, { allow_unused: true });
    await assertRejects(other, "InvalidArgument", /\[gradAsync\].*"allowUnused"/);
  });

  test("products take the vector by name as well", () => {
    const [, byPosition] = autograd.functional.vjp((input) => input.mul(2), x, eg.ones([2]));
    const [, byName] = autograd.functional.vjp((input) => input.mul(2), x, { v: eg.ones([2]) });
    assertTensor(byName, byPosition.dataSync());
  });
});

describe("data, io and modules", () => {
  test("refuse options they do not have", () => {
    const dataset = new eg.data.TensorDataset(eg.ones([4]));
    const cases = [
      [() => new eg.data.DataLoader(dataset, { batch_size: 2 }), /\[DataLoader\].*"batchSize"/],
      [() => new eg.data.DataLoader(dataset, "2"), /\[DataLoader\] batchSize: expected/],
      [() => new eg.data.DataLoader(dataset, { shuffle: 1 }), /shuffle: expected true or false/],
      [() => new eg.data.DataLoader(7), /\[DataLoader\] dataset: expected an array/],
      [() => eg.io.saveSafetensors({}, { meta: {} }), /\[saveSafetensors\].*"metadata"/],
      [() => eg.allclose(eg.ones(1), eg.ones(1), { equal_nan: true }), /\[allclose\].*"equalNan"/],
      [() => eg.nn.utils.clipGradNorm_([], 1, { norm_type: 1 }), /\[clipGradNorm_\].*"normType"/],
      [() => new eg.nn.Linear(1, 1).loadStateDict({}, { stirct: false }), /"strict"/],
      [() => new eg.nn.Linear(1, 1).loadStateDict(null), /\[loadStateDict\] state/],
      [() => new eg.nn.Linear(1, 1).train("no"), /\[train\] mode/],
      [() => new eg.nn.ReLU({ in_place: true }), /\[ReLU\] unknown option "in_place"/],
      [() => new eg.nn.Tanh(true), /\[Tanh\] too many arguments/],
      [() => new eg.nn.ModuleList(5), /\[ModuleList\] modules/],
      [() => new eg.nn.Parameter(), /\[Parameter\] data: expected a tensor/],
      [() => eg.slice(1.5), /\[slice\] start/],
      [() => eg.scope(5), /\[scope\] fn: expected a function/],
      [() => eg.noGrad(5), /\[noGrad\] fn: expected a function/],
      [() => eg.setGradEnabled("yes"), /true or false/],
    ];
    for (const [call, text] of cases) assertThrows(call, "InvalidArgument", text);
    assert.equal(eg.isGradEnabled(), true);
  });
});

test("every op refuses an option it does not have, and names it", () => {
  for (const op of opTable.filter(({ kind }) => kind !== "internal")) {
    for (const { text, make } of samplesOf(op)) {
      const args = make();
      if (args === null || typeof args.at(-1) !== "object" || args.at(-1) === null) continue;
      const isNamed = Object.getPrototypeOf(args.at(-1)) === Object.prototype;
      const options = { ...(isNamed && args.at(-1)), quux: 1 };
      const positional = isNamed ? args.slice(0, -1) : args;
      const message = new RegExp(`^\\[${op.js}\\] unknown option "quux"`);
      assertThrows(() => eg[op.js](...positional, options), "InvalidArgument", message, text);
    }
  }
});
