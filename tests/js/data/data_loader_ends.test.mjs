// Passes of a DataLoader that end early or fail: the iterator of the samples is closed and prefetched batches are freed.

// Before edgegrad.
import "../support/clock.mjs";

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { soon, until } from "../../support/until.mjs";
import { assertRejects, assertThrows } from "../support/assert.mjs";
import { runProgram } from "../support/child.mjs";
import { Clock } from "../support/clock.mjs";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";

const { DataLoader, TensorDataset, Subset } = eg.data;
const handles = () => eg.memory().jsHandles;

/** The end of a pass waits at most this long for samples, which tests control: they may take any time on a busy machine. */
const kCloseTimeout = 1000; // ms
const clock = new Clock();

const nextTask = () => new Promise(setImmediate);
const tasks = async (count) => {
  for (let i = 0; i < count; i++) await nextTask();
};

const kRows = new TensorDataset(eg.arange(64).reshape(32, 2), eg.arange(32, { dtype: "int64" }));
const kSlow = {
  length: 32,
  get: async (i) => {
    await tasks(i % 3);
    return { x: eg.full([2], i), y: i };
  },
};

/** Returns the first batch and ends the pass. */
async function first(loader) {
  for await (const batch of loader) return batch;
  return undefined;
}

/** The same where samples do not come, which the end of a pass waits for during kCloseTimeout. */
async function firstInTime(loader) {
  const batch = first(loader);
  await until("wait for samples", () => clock.waiting.includes(kCloseTimeout));
  clock.advance(kCloseTimeout);
  return await soon("end of the pass", batch);
}

function disposeBatch(batch) {
  for (const tensor of Object.values(batch)) tensor.dispose();
}

/** Returns an async iterable of numbers that records how it ends. */
function stream({ samples = 100, failAt = -1, failsToClose = false } = {}) {
  const noted = { closed: 0, given: 0 };
  noted.iterable = (async function* () {
    try {
      for (let i = 0; i < samples; i++) {
        await nextTask();
        if (i === failAt) throw new Error("lost");
        noted.given++;
        yield i;
      }
    } finally {
      await nextTask();
      noted.closed++;
      // biome-ignore lint/correctness/noUnsafeFinally: a program may do so
      if (failsToClose) throw new Error("cannot close");
    }
  })();
  return noted;
}

describe("a pass that is left early", () => {
  for (const prefetch of [0, 1, 3]) {
    const options = { batchSize: 2, prefetch };

    test(`closes an async iterable before the loop is over (prefetch ${prefetch})`, async () => {
      for (const leave of [
        (loader) => first(loader),
        (loader) =>
          assert.rejects(async () => {
            for await (const _ of loader) throw new Error("stop");
          }, /stop/),
        async (loader) => {
          const batches = loader[Symbol.asyncIterator]();
          await batches.next();
          await batches.return();
        },
      ]) {
        const noted = stream();
        await leave(new DataLoader(noted.iterable, options));
        assert.equal(noted.closed, 1);
        const { given } = noted;
        // It would give this after what was asked for before.
        assert.equal((await noted.iterable.next()).done, true);
        assert.equal(noted.given, given);
      }
    });

    test(`closes generators of samples, positions and batches (prefetch ${prefetch})`, async () => {
      let closed = 0;
      function* counted(make) {
        try {
          for (let i = 0; ; i++) yield make(i % 32);
        } finally {
          closed++;
        }
      }
      await first(
        new DataLoader(
          counted((i) => i),
          options,
        ),
      );
      await first(new DataLoader(kSlow, { ...options, sampler: counted((i) => i) }));
      await first(new DataLoader(kSlow, { prefetch, batchSize: null, sampler: counted((i) => i) }));
      await first(new DataLoader(kSlow, { prefetch, batchSampler: counted((i) => [i]) }));
      assert.equal(closed, 4);
    });

    test(`tells what closing throws, but not in place of an error (prefetch ${prefetch})`, async () => {
      const broken = () => stream({ failsToClose: true }).iterable;
      await assert.rejects(first(new DataLoader(broken(), options)), /cannot close/);
      const collateFn = () => assert.fail("no batch");
      await assert.rejects(first(new DataLoader(broken(), { ...options, collateFn })), /no batch/);
      // A timer would keep the process alive.
      assert.deepEqual(clock.waiting, []);
    });

    test(`frees the batches that were not used (prefetch ${prefetch})`, async () => {
      await collectGarbage();
      const loaders = {
        rows: new DataLoader(kRows, options),
        subset: new DataLoader(new Subset(kRows, [3, 2, 1, 0, 7, 8, 9, 10]), options),
        stream: () => new DataLoader(stream().iterable, options),
      };
      for (const [what, made] of Object.entries(loaders)) {
        const before = handles();
        for (let i = 0; i < 10; i++) {
          const loader = typeof made === "function" ? made() : made;
          const batch = await first(loader);
          if (batch instanceof eg.Tensor) batch.dispose();
          else disposeBatch(batch);
          assert.equal(handles(), before, what);
        }
      }
      // The samples belong to the dataset, so they are left to the garbage collector.
      await collectGarbage();
      const before = handles();
      for (let i = 0; i < 10; i++) disposeBatch(await first(new DataLoader(kSlow, options)));
      await collectGarbage();
      assert.equal(handles(), before);
    });

    test(`frees all of it inside of an async scope (prefetch ${prefetch})`, async () => {
      await collectGarbage();
      for (const dataset of [kRows, kSlow]) {
        const before = handles();
        for (let i = 0; i < 10; i++) {
          await eg.scope(async () => {
            for await (const _ of new DataLoader(dataset, options)) break;
          });
          assert.equal(handles(), before);
        }
      }
    });
  }

  test("leaves what the program has: samples as they are, batches of its own making", async () => {
    const mine = Array.from({ length: 8 }, (_, i) => eg.full([2], i));
    const whole = eg.ones([3]);
    const cached = { length: 8, getBatch: () => whole };
    class Cached extends TensorDataset {
      getBatch() {
        return mine;
      }
    }
    for (const prefetch of [0, 3]) {
      await first(new DataLoader(mine, { batchSize: null, prefetch }));
      await first(new DataLoader(new Set(mine), { batchSize: null, prefetch }));
      await first(new DataLoader(mine, { batchSize: 2, prefetch, collateFn: ([x]) => x }));
      await first(new DataLoader(cached, { batchSize: 2, prefetch }));
      await first(new DataLoader(new Subset(cached, [0, 1, 2, 3]), { prefetch }));
      await first(new DataLoader(new Cached(eg.ones([8, 2])), { prefetch }));
      await first(new DataLoader(mine, { batchSize: 2, prefetch }));
    }
    assert.ok([...mine, whole].every((tensor) => !tensor.disposed));
  });

  test("is not held up by samples that never come", async () => {
    const stuck = { length: 8, get: (i) => (i < 2 ? i : new Promise(() => {})) };
    await firstInTime(new DataLoader(stuck, { batchSize: 2, prefetch: 2 }));
    const quiet = async function* () {
      yield 1;
      await new Promise(() => {});
    };
    await firstInTime(new DataLoader(quiet(), { prefetch: 2 }));
  });

  test("frees what comes later when it comes", async () => {
    await collectGarbage();
    const before = handles();
    let arrive;
    const arrival = new Promise((resolve) => {
      arrive = resolve;
    });
    const late = { length: 4, get: (i) => (i < 2 ? i : arrival) };
    (await firstInTime(new DataLoader(late, { batchSize: 2, prefetch: 1 }))).dispose();
    arrive(7);
    await until("release of what came", () => handles() === before);
  });
});

describe("batches that are loaded ahead", () => {
  test("belong to the scope of the code that gets them", async () => {
    await collectGarbage();
    const before = handles();
    for (const dataset of [kRows, kSlow]) {
      const batches = new DataLoader(dataset, { batchSize: 4, prefetch: 2 })[
        Symbol.asyncIterator
      ]();
      const seen = [];
      for (let isDone = false; !isDone; ) {
        await eg.scope(async () => {
          const { value, done } = await batches.next();
          isDone = done;
          await tasks(3);
          if (!done) seen.push(...Object.values(value)[1].arraySync());
        });
      }
      assert.deepEqual(seen, [...Array(32).keys()]);
    }
    assert.equal(handles(), before);
  });

  test("are the garbage collector's when the pass is forgotten", async () => {
    await collectGarbage();
    const before = handles();
    for (let i = 0; i < 20; i++) {
      const batches = new DataLoader(kRows, { batchSize: 4, prefetch: 3 })[Symbol.asyncIterator]();
      disposeBatch((await batches.next()).value);
    }
    await collectGarbage();
    // The last pass may still be reachable.
    assert.ok(handles() - before <= 12, `${handles() - before} handles`);
  });
});

describe("a pass that fails", () => {
  test("closes the source once, frees what was loaded, and rejects where the failed batch is due", async () => {
    await collectGarbage();
    for (const prefetch of [0, 2]) {
      const before = handles();
      const noted = stream({ failAt: 5 });
      const seen = [];
      await assert.rejects(async () => {
        for await (const batch of new DataLoader(noted.iterable, { batchSize: 2, prefetch })) {
          seen.push(batch.arraySync());
          batch.dispose();
        }
      }, /lost/);
      assert.deepEqual(seen, [[0, 1], [2, 3]]); // biome-ignore format: rows
      assert.equal(noted.closed, 1);
      assert.equal(handles(), before);
    }
  });

  test("ahead, causes no unhandled rejections", async () => {
    const { status, stdout, stderr } = await runProgram(`
      import * as eg from "edgegrad";
      await eg.init({ threads: 1 });
      const nextTask = () => new Promise(setImmediate);
      const lost = async (i) => { if (i > 1) throw new Error("lost"); return i; };
      const kinds = {
        get: { length: 9, get: lost },
        thrown: { length: 9, get: (i) => { if (i > 1) throw new Error("lost"); return i; } },
        getBatch: { length: 9, getBatch: ([i]) => lost(i) },
        stream: () => (async function* () { for (let i = 0; ; i++) yield lost(i); })(),
        ragged: { length: 9, get: (i) => (i < 2 ? [1] : Array(i)) },
      };
      const sampler = { *[Symbol.iterator]() { yield 0; yield 1; yield 99; } };
      const batchSampler = { *[Symbol.iterator]() { yield [0]; throw new Error("lost"); } };
      const passes = [
        ...Object.values(kinds).map((made) => [typeof made === "function" ? made() : made, {}]),
        [kinds.get, { sampler }], [kinds.get, { batchSampler }],
        [kinds.get, { collateFn: async ([i]) => lost(i + 2) }],
      ];
      let count = 0;
      for (const [dataset, options] of passes) {
        try {
          for await (const _ of new eg.data.DataLoader(dataset, { prefetch: 4, ...options })) {
            await nextTask();
            break;
          }
        } catch { }
        await nextTask();
        count++;
      }
      console.log(count);`);
    assert.equal(status, 0, stderr);
    assert.equal(stderr, "");
    assert.equal(stdout.trim(), "8");
  });
});

describe("an iterable that is none", () => {
  const broken = {
    "no iterator": null,
    "an iterator without next()": {},
    "results that are no objects": { next: () => 3 },
    "a result that is null": { next: () => null },
  };

  for (const [what, iterator] of Object.entries(broken)) {
    test(`is refused by name: ${what}`, async () => {
      for (const symbol of [Symbol.iterator, Symbol.asyncIterator]) {
        const made = { [symbol]: () => iterator };
        await assertRejects(first(new DataLoader(made)), "InvalidArgument", /dataset.*next\(\)/);
      }
    });
  }
});

describe("a dataset that has getBatch() only", () => {
  const pairs = { length: 4, getBatch: (indices) => eg.tensor(indices.map((i) => 10 * i)) };

  test("gives batches", async () => {
    const seen = [];
    for (const dataset of [pairs, new Subset(pairs, [3, 1])]) {
      for await (const batch of new DataLoader(dataset, { batchSize: 2 })) {
        seen.push(batch.arraySync());
      }
    }
    assert.deepEqual(seen, [[0, 10], [20, 30], [30, 10]]); // biome-ignore format: rows
  });

  test("is refused where single samples are needed", async () => {
    const text = /getBatch\(\) but no get\(index\)/;
    const collateFn = (samples) => samples;
    for (const options of [
      { batchSize: null },
      { collateFn },
      { batchSampler: [[0]], collateFn },
    ]) {
      assertThrows(() => new DataLoader(pairs, options), "InvalidArgument", text);
    }
    assertThrows(() => new Subset(pairs, [1]).get(0), "InvalidArgument", text);
    const both = new eg.data.ConcatDataset([pairs]);
    assertThrows(() => both.get(0), "InvalidArgument", text);
    await assertRejects(first(new DataLoader(both)), "InvalidArgument", text);
  });
});
