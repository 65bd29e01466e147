// Every error says in brackets who was called.

import { describe, test } from "node:test";
import { assertRejects, assertThrows } from "./support/assert.mjs";
import { eg } from "./support/engine.mjs";

const leaf = () => eg.ones([2], { requiresGrad: true });

describe("errors that are PyTorch's sentences name the caller too", () => {
  const cases = [
    ["backward", () => leaf().mul(2).backward(), "NonScalarBackward"],
    ["backward", () => eg.ones([]).backward(), "NoGradPath"],
    ["backward", () => eg.autograd.backward([eg.ones([])]), "NoGradPath"],
    ["grad", () => eg.autograd.grad(leaf().sum(), leaf()), "UnusedInput"],
    ["requires_grad_", () => eg.tensor([1n]).requiresGrad_(), "NotDifferentiable"],
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
