// Random trees of asynchronous scopes: code that outlives its scope, inner scopes that end after their outer ones, failures,
// results that cannot be searched for tensors, and unfinished passes over a DataLoader. The runner detects leaks.

import { Problem } from "../oracle.mjs";

const kMostDepth = 3;
const kSamples = [1, 2, 3, 4, 5, 6, 7, 8];

const pause = () => new Promise(setImmediate);
const no = () => {
  throw new Error("no");
};

// Forms of a scope's result, and how to find the tensor in it.
const kForms = [
  [(x) => x, (result) => result],
  [(x) => [0, { x }], (result) => result[1].x],
  [(x) => ({ x, get bad() { return no(); } }), (result) => result.x], // biome-ignore format: short
  [(x) => new Map([["x", x]]), (result) => result.get("x")],
];

const kDeeper = new Set(["wait", "leave", "all"]);

// Thrown to make a scope fail.
class Stop extends Error {}

/** Asynchronous scopes that end in any order. */
export async function scopes({ eg, device }, random) {
  // Promises that no scope waits for.
  const late = [];
  const laterOn = (promise) => {
    // It is awaited at the end.
    promise.catch(() => undefined);
    late.push(promise);
  };
  const make = () => eg.ones([3], { device }).add(1);

  const inner = async (depth) => {
    const [form, tensorIn] = random.pick(kForms);
    const result = await eg.scope(async () => {
      await run(depth + 1);
      return form(make());
    });
    return tensorIn(result);
  };
  const steps = {
    make,
    pause,
    refuse: () => {
      eg.scope(() => {
        make();
        return new Proxy({}, { getPrototypeOf: no, get: no });
      });
    },
    wait: async (depth) => {
      checkAlive(await inner(depth));
    },
    leave: (depth) => {
      laterOn(inner(depth));
    },
    outlive: () => {
      laterOn(
        pause().then(async () => {
          make();
          await pause();
          make();
        }),
      );
    },
    all: async (depth) => {
      const both = [inner(depth), inner(depth)];
      both.forEach(laterOn);
      await Promise.all(both);
    },
    fail: () => {
      if (random.chance(0.3)) throw new Stop();
    },
    batches: async () => {
      const prefetch = random.int(3);
      for await (const batch of new eg.data.DataLoader(kSamples, { batchSize: 2, prefetch })) {
        batch.mul(2);
        if (random.chance(0.6)) break;
      }
    },
  };
  const run = async (depth) => {
    const names = Object.keys(steps).filter((name) => depth < kMostDepth || !kDeeper.has(name));
    for (let i = 1 + random.int(4); i > 0; i--) await steps[random.pick(names)](depth);
  };

  const begun = Array.from({ length: 1 + random.int(3) }, () => inner(0));
  for (const result of begun) result.catch(() => undefined);
  for (const result of begun) {
    const kept = await orNull(result);
    if (kept === null) continue;
    checkAlive(kept);
    kept.dispose();
  }
  // Their scopes may still be open, and late code may start more of them.
  for (const result of late) (await orNull(result))?.dispose();
}

function checkAlive(result) {
  if (result.disposed) throw new Problem("wrong value", "the result of a scope was disposed of");
}

// Returns the result of a promise, or null if the program threw Stop.
function orNull(promise) {
  return promise.catch((error) => {
    if (error instanceof Stop) return null;
    throw error;
  });
}
