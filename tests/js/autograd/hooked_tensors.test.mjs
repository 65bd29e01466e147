// Tensors with hooks are garbage-collected like others.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as eg from "edgegrad";
import { untilCollected } from "../support/collect_garbage.mjs";

await eg.init();

const { registerMultiGradHook } = eg.autograd.graph;
const another = () => eg.ones([3], { requiresGrad: true });
// A separate function, because closures in the same scope share their variables, which would keep the tensor alive.
const throwOwn = () => {
  throw new Error("own");
};

for (const [what, hook] of Object.entries({
  "a leaf with a hook": (x) => x.registerHook(() => undefined),
  "a result with a hook": (x) => x.mul(2).registerHook(() => undefined),
  "a leaf with a post-accumulate hook": (x) => x.registerPostAccumulateGradHook(() => undefined),
  "a leaf with a hook of several": (x) => registerMultiGradHook([x, another()], () => undefined),
  "a result with a hook of several": (x) =>
    registerMultiGradHook([x.mul(2), another()], () => undefined),
  "a leaf with a hook of several that has run": (x) => {
    const y = another();
    registerMultiGradHook([x, y], () => undefined);
    x.mul(y).sum().backward();
  },
  "a leaf with a hook of several that throws": (x) => {
    registerMultiGradHook([x, another()], throwOwn);
    assert.throws(() => x.sum().backward(), /own/);
  },
  "a leaf with a hook of the first of several": (x) => {
    registerMultiGradHook([x, another()], () => undefined, "any");
    x.sum().backward();
  },
})) {
  test(`${what} is collected`, async () => {
    const before = eg.memory().jsHandles;
    for (let i = 0; i < 10; i++) hook(eg.ones([3], { requiresGrad: true }));
    const now = () => eg.memory().jsHandles;
    await untilCollected(
      () => `${before} handles; there are ${now()}`,
      () => now() <= before,
    );
  });
}
