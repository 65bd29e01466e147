// Every error message starts with the called function's name in brackets.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertRejects, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const leaf = () => eg.ones([2], { requiresGrad: true });

describe("errors that are PyTorch's sentences name the caller too", () => {
  const cases = [
    ["backward", () => leaf().mul(2).backward(), "NonScalarBackward"],
    ["backward", () => eg.ones([]).backward(), "NoGradPath"],
    ["backward", () => eg.autograd.backward([eg.ones([])]), "NoGradPath"],
    ["grad", () => eg.autograd.grad(leaf().sum(), leaf()), "UnusedInput"],
    ["requiresGrad_", () => eg.tensor([1n]).requiresGrad_(), "NotDifferentiable"],
    ["retainGrad", () => eg.ones([1]).retainGrad(), "InvalidArgument"],
    ["registerHook", () => eg.ones([1]).registerHook(() => {}), "InvalidArgument"],
    ["version", () => eg.inferenceMode(() => eg.ones([1])).version, "InferenceTensor"],
    [
      "makeDual",
      () => eg.autograd.forwardAd.makeDual(eg.ones([1]), eg.ones([1])),
      "InvalidArgument",
    ],
  ];
  for (const [name, call, code] of cases) {
    test(`${code} of ${name}`, () => assertThrows(call, code, new RegExp(`^\\[${name}\\] `)));
  }

  test("on other threads as well", () =>
    assertRejects(leaf().mul(2).backwardAsync(), "NonScalarBackward", /^\[backwardAsync\] /));
});

describe("what is no function, tensor or number is refused by name", () => {
  const { autograd, nn } = eg;
  const cases = [
    ["noGrad", () => eg.noGrad(5)],
    ["enableGrad", () => eg.enableGrad("x")],
    ["setGradEnabled", () => eg.setGradEnabled(1)],
    ["setGradEnabled", () => eg.setGradEnabled(true, 5)],
    ["inferenceMode", () => eg.inferenceMode(5)],
    ["scope", () => eg.scope()],
    ["scope", () => eg.scope(5)],
    ["dualLevel", () => autograd.forwardAd.dualLevel(5)],
    ["detectAnomaly", () => autograd.detectAnomaly(5)],
    ["profile", () => autograd.profile()],
    ["vjp", () => autograd.functional.vjp(5, eg.ones([1]))],
    ["jacobian", () => autograd.functional.jacobian((x) => x, 5)],
    ["hvp", () => autograd.functional.hvp((x) => x.sum(), eg.ones([2]), eg.ones([3]))],
    ["hessian", () => autograd.functional.hessian((x) => x, eg.ones([2]), { create_graph: true })],
    ["saveOnCpu", () => autograd.graph.saveOnCpu(5)],
    ["disableSavedTensorsHooks", () => autograd.graph.disableSavedTensorsHooks(5, () => 1)],
    ["tensor", () => autograd.graph.getGradientEdge()],
    ["requiresGrad", () => leaf().requiresGrad_("yes")],
    ["requiresGrad", () => leaf().requiresGrad_(1n)],
    ["manualSeed", () => eg.manualSeed()],
    ["manualSeed", () => eg.manualSeed("5")],
    ["equal", () => eg.equal(eg.ones([1]), [1])],
    ["clipGradNorm_", () => nn.utils.clipGradNorm_(5, 1)],
    ["clipGradValue_", () => nn.utils.clipGradValue_([5], 1)],
    ["set_", () => eg.ones([2]).set_(0, 5)],
    ["slice", () => eg.ones([2]).at(eg.slice("a"))],
    ["TensorDataset", () => new eg.data.TensorDataset(5)],
    ["TensorDataset", () => new eg.data.TensorDataset(eg.ones([2])).getBatch([0.5])],
  ];
  for (const [name, call] of cases) {
    test(`${name}: ${call}`.slice(0, 90), () => {
      assertThrows(
        call,
        name === "hvp" ? "ShapeMismatch" : "InvalidArgument",
        new RegExp(`^\\[${name}\\] `),
      );
      assert.equal(eg.isGradEnabled(), true);
      assert.equal(eg.isInferenceModeEnabled(), false);
    });
  }
});

test("a tensor without dimensions has none to unflatten", () => {
  for (const dim of [0, -1]) {
    assertThrows(
      () => eg.tensor(3).unflatten(dim, [1]),
      "IndexOutOfRange",
      /0-dim tensor has no dimension/,
    );
  }
});

test("lists that hold themselves are refused", () => {
  const list = [];
  list[0] = list;
  assertThrows(() => eg.ones([2]).at(list), "InvalidArgument", /^\[at\] .*64/);
  assertThrows(() => eg.tensor(list), "InvalidArgument", /^\[tensor\] .*64/);
});

test("arrays that JavaScript has no room for are OutOfMemory", () => {
  const views = [eg.empty([2 ** 31, 0]), eg.empty([2 ** 40, 0, 3]), eg.ones([1]).expand([2 ** 30])];
  for (const view of views) assertThrows(() => view.arraySync(), "OutOfMemory", /^\[array\]/);
  assert.equal(String(views[0]), "tensor([], size=(2147483648, 0))");
});

test("a Jacobian that JavaScript has no room for is OutOfMemory", () => {
  const x = eg.zeros([2 ** 20], { dtype: "float64", requiresGrad: true });
  assertThrows(() => eg.autograd.gradcheck((y) => y.sin(), x), "OutOfMemory", /^\[gradcheck\]/);
});

test("a dataset says how long it is in whole numbers", async () => {
  for (const length of [Number.NaN, -1, 0.5, 2 ** 40, undefined, "3"]) {
    const loader = new eg.data.DataLoader({ length, get: (i) => i }, { batchSize: 2 });
    await assertRejects(
      loader[Symbol.asyncIterator]().next(),
      "InvalidArgument",
      /^\[DataLoader\]/,
    );
  }
  const long = new eg.data.DataLoader({ length: 2 ** 31 - 1, get: (i) => i }, { batchSize: 2 });
  const { value } = await long[Symbol.asyncIterator]().next();
  assert.deepEqual(value.arraySync(), [0, 1]);
});

test("a gradient edge names an output that there is", () => {
  const x = leaf();
  const { node } = eg.autograd.graph.getGradientEdge(x.exp());
  for (const outputNr of [1, 300, 2 ** 32, -1, 0.5, Number.NaN, "0"]) {
    for (const call of [
      () => eg.autograd.backward({ node, outputNr }, { gradTensors: eg.ones([2]) }),
      () => eg.autograd.grad({ node, outputNr }, x, { gradOutputs: eg.ones([2]) }),
      () => eg.autograd.grad(x.sum(), { node, outputNr }),
    ]) {
      assertThrows(call, "InvalidArgument", /outputNr/);
    }
  }
});

test("an EdgeGradError can be made of anything", () => {
  for (const message of [Object.create(null), Symbol("s"), 5, null]) {
    assert.equal(typeof new eg.EdgeGradError("Internal", message).message, "string");
  }
});
