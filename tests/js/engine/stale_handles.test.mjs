// Tensors and nodes of an engine that was shut down never name those of the next one, whatever the clock says.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eg } from "../support/engine.mjs";

const kDisposed = { name: "EdgeGradError", code: "Disposed" };
const kNotInitialized = { name: "EdgeGradError", code: "NotInitialized" };

// A clock that stands still, as with fake timers and in workers of the edge.
const { now } = Date;
before(async () => {
  await eg.shutdown();
  Date.now = () => 1_700_000_000_000;
});
after(async () => {
  Date.now = now;
  await eg.shutdown();
});

function manyObjects() {
  const x = eg.arange(8, { dtype: "float32" }).requiresGrad_();
  const tensors = Array.from({ length: 50 }, (_, i) => x.mul(i));
  const inScope = eg.scope(() => eg.keep(x.add(1)));
  return [x, ...tensors, inScope, ...tensors.map((tensor) => tensor.gradFn)];
}

const uses = (one) =>
  one instanceof eg.Tensor
    ? [
        () => one.shape,
        () => one.mul(2),
        () => one.dataSync(),
        () => one.backward(),
        () => one.fill_(7),
      ]
    : [() => one.name, () => one.nextFunctions];

test("objects of earlier engines are invalid, and releasing them frees nothing", async () => {
  const old = [];
  for (let engine = 0; engine < 4; engine++) {
    await eg.init({ threads: 1 });
    const objects = manyObjects();
    const before = eg.memory().jsHandles;
    const values = objects.filter((one) => one instanceof eg.Tensor).map((one) => `${one}`);
    for (const stale of old) {
      for (const use of uses(stale)) assert.throws(use, kDisposed);
      stale.dispose?.();
    }
    assert.equal(eg.memory().jsHandles, before);
    assert.deepEqual(
      objects.filter((one) => one instanceof eg.Tensor).map((one) => `${one}`),
      values,
    );
    old.push(...objects);
    await eg.shutdown();
    const alive = objects[0];
    assert.throws(() => alive.shape, kNotInitialized);
  }
});
