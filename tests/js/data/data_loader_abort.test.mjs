// Passes of a DataLoader that a signal ends.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until } from "../../support/until.mjs";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";
import {
  assertNoListeners,
  assertRejectsWith,
  ForeignSignal,
  kReasons,
} from "../support/signals.mjs";

const { DataLoader } = eg.data;

const kReason = new Error("enough");

async function passOver(loader, use = () => {}) {
  let count = 0;
  for await (const batch of loader) {
    count++;
    await use(batch, count);
  }
  return count;
}

/** A dataset whose samples from `from` on come when `release` is called. */
function slowFrom(from) {
  let release;
  const ready = new Promise((resolve) => {
    release = resolve;
  });
  const get = async (i) => {
    const sample = eg.full([10], i);
    if (i >= from) await ready;
    return sample;
  };
  return { dataset: { length: 8, get }, release };
}

describe("a DataLoader with a signal", () => {
  test("that has been given rejects with its reason, and draws and loads nothing", async () => {
    for (const reason of kReasons) {
      eg.manualSeed(1);
      let loaded = 0;
      const dataset = { length: 4, get: (i) => ++loaded + i };
      const signal = AbortSignal.abort(reason);
      await assertRejectsWith(passOver(new DataLoader(dataset, { shuffle: true, signal })), reason);
      assert.equal(loaded, 0);
      const drawn = eg.rand([1]).item();
      eg.manualSeed(1);
      assert.equal(eg.rand([1]).item(), drawn);
    }
  });

  for (const prefetch of [0, 3]) {
    test(`rejects at once while a sample is loaded, with prefetch: ${prefetch}`, async () => {
      await collectGarbage();
      const { tensors } = eg.memory();
      const { dataset, release } = slowFrom(2);
      const controller = new AbortController();
      const { signal } = controller;
      const loader = new DataLoader(dataset, { batchSize: 2, prefetch, signal });
      let count = 0;
      const pass = eg.scope(() => passOver(loader, () => count++));
      await until("first batch", () => count === 1);
      // In the next turn the pass waits for its second batch.
      await new Promise(setImmediate);
      controller.abort(kReason);
      await assertRejectsWith(pass, kReason);
      assertNoListeners(signal);
      release();
      await until("end of what was loaded", async () => {
        await collectGarbage();
        return eg.memory().tensors === tensors;
      });
    });
  }

  test("closes the samples when it is given between two batches", async () => {
    let isClosed = false;
    async function* samples() {
      try {
        for (let i = 0; ; i++) yield i;
      } finally {
        isClosed = true;
      }
    }
    const signal = new ForeignSignal();
    const loader = new DataLoader({ [Symbol.asyncIterator]: samples }, { signal, prefetch: 2 });
    const stop = (_, count) => count === 3 && signal.abort(null);
    await assertRejectsWith(passOver(loader, stop), null);
    await until("end of the samples", () => isClosed);
    await assertRejectsWith(passOver(loader), null);
  });

  test("that is not given changes nothing and holds nothing", async () => {
    const { signal } = new AbortController();
    const loader = new DataLoader([1, 2, 3, 4], { batchSize: 2, prefetch: 1, signal });
    for (let i = 0; i < 250; i++) assert.equal(await eg.scope(() => passOver(loader)), 2);
    for await (const _ of loader) break;
    const failing = new DataLoader(
      { length: 1, get: () => Promise.reject(kReason) },
      { batchSize: null, signal },
    );
    await assertRejectsWith(passOver(failing), kReason);
    assertNoListeners(signal);
    const options = { signal: "now" };
    assert.throws(() => new DataLoader([1], options), {
      code: "InvalidArgument",
      message: /\[DataLoader\] signal: expected an AbortSignal/,
    });
  });
});
