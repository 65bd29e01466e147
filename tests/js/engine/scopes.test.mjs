// Scopes that overlap without being nested, and code that continues after its scope has ended: nothing leaks, and
// nothing is freed that a program still uses.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runProgram } from "../support/child.mjs";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";

const handles = () => eg.memory().jsHandles;
const inTimer = (fn) => setTimeout(fn, 1); // timer: it is what outlives the scope

/** A promise with the functions that settle it. */
function gate() {
  const made = {};
  made.passed = new Promise((resolve) => {
    made.open = resolve;
  });
  return made;
}

/**
 * Programs that return when everything they have started is finished. Each receives a scope() and two functions that make
 * tensors: one for a tensor that is used immediately and one for a tensor that the program still uses at its end.
 */
const kPrograms = {
  "code that outlives its scope while another is open": async ({ scope, make }) => {
    const [first, second, late] = [gate(), gate(), gate()];
    const other = scope(() => second.passed);
    await scope(async () => {
      void first.passed.then(async () => {
        make();
        await null;
        make();
        late.open();
      });
    });
    first.open();
    await late.passed;
    second.open();
    await other;
  },
  "code that outlives a scope of plain code while another is open": async ({ scope, make }) => {
    const [start, done] = [gate(), gate()];
    const other = scope(() => done.passed);
    scope(() => {
      void start.passed.then(make).then(done.open);
    });
    start.open();
    await other;
  },
  "an inner scope that ends after its outer one": async ({ scope, make }) => {
    const start = gate();
    let inner;
    await scope(async () => {
      inner = scope(async () => {
        make();
        await start.passed;
        make();
        return make();
      });
      make();
    });
    start.open();
    await inner;
  },
  "three scopes that end from the outermost": async ({ scope, make }) => {
    const [second, third] = [gate(), gate()];
    const ends = [];
    await scope(async () => {
      ends.push(
        scope(async () => {
          ends.push(
            scope(async () => {
              await third.passed;
              return make();
            }),
          );
          await second.passed;
          return [make()];
        }),
      );
    });
    second.open();
    await ends[1];
    third.open();
    await ends[0];
  },
  "Promise.all() of which one fails": async ({ scope, make }) => {
    const others = [];
    const [failing, ...later] = [gate(), gate(), gate()];
    const work = async (start) => {
      make();
      await start.passed;
      make();
      if (start === failing) throw new Error("stop");
      return make();
    };
    const keepOpen = gate();
    const other = scope(() => keepOpen.passed);
    const all = scope(async () => {
      for (const start of [failing, ...later]) others.push(work(start));
      await Promise.all(others);
    });
    failing.open();
    await assert.rejects(all, /stop/);
    for (const start of later) start.open();
    await Promise.allSettled(others);
    keepOpen.open();
    await other;
  },
  "Promise.all() of scopes of which one fails": async ({ scope, make }) => {
    const [failing, ...later] = [gate(), gate(), gate()];
    const others = [failing, ...later].map((start) =>
      scope(async () => {
        make();
        await start.passed;
        if (start === failing) throw new Error("stop");
        return make();
      }),
    );
    failing.open();
    await assert.rejects(
      scope(() => Promise.all(others)),
      /stop/,
    );
    for (const start of later) start.open();
    await Promise.allSettled(others);
  },
  "timers that go off later": async ({ scope, make }) => {
    const off = gate();
    const done = gate();
    const other = scope(() => done.passed);
    await scope(async () => {
      inTimer(() => {
        make();
        off.open();
      });
    });
    await off.passed;
    done.open();
    await other;
  },
  "a scope opened by code that outlives its own": async ({ scope, make }) => {
    const [start, done, open] = [gate(), gate(), gate()];
    const other = scope(() => open.passed);
    await scope(async () => {
      void start.passed.then(async () => {
        await scope(async () => {
          make();
          await null;
          return make();
        });
        done.open();
      });
    });
    start.open();
    await done.passed;
    open.open();
    await other;
  },
  "an abandoned generator": async ({ scope, make }) => {
    const steps = (async function* () {
      for (;;) yield make();
    })();
    await scope(async () => {
      await steps.next();
    });
    const open = gate();
    const other = scope(async () => {
      await steps.next();
      await open.passed;
    });
    await steps.next();
    open.open();
    await other;
  },
};

describe("scopes that overlap", () => {
  for (const [what, program] of Object.entries(kPrograms)) {
    test(`leak nothing: ${what}`, async () => {
      await collectGarbage();
      const before = eg.memory();
      for (let i = 0; i < 20; i++) {
        await program({ scope: eg.scope, make: () => eg.zeros([100]).add(1) });
      }
      await collectGarbage();
      const after = eg.memory();
      assert.equal(after.jsHandles, before.jsHandles);
      assert.equal(after.tensors, before.tensors);
    });
  }

  test("hand what an inner one returns late to the next one that is open", async () => {
    const before = handles();
    const start = gate();
    let inner;
    await eg.scope(async () => {
      await eg.scope(async () => {
        inner = eg.scope(async () => {
          await start.passed;
          return eg.ones([1]);
        });
      });
      start.open();
      const late = await inner;
      assert.equal(late.item(), 1);
    });
    assert.equal(handles(), before);
    assert.equal((await inner).disposed, true);
  });

  test("leave what code makes that has no scope any more usable", async () => {
    const [start, open] = [gate(), gate()];
    const other = eg.scope(() => open.passed);
    let late;
    await eg.scope(async () => {
      late = start.passed.then(() => eg.full([1], 7));
    });
    start.open();
    const made = await late;
    open.open();
    await other;
    assert.equal(made.item(), 7);
    made.dispose();
  });
});

describe("what a scope returns", () => {
  const failing = {
    "a getter that throws": (x) => ({
      get bad() {
        throw new Error("no");
      },
      x,
    }),
    "a getter deep inside": (x) => [[{ a: { get bad() { throw null; } }, b: [x] }]], // biome-ignore format: short
    "a getter of a list": (x) => Object.defineProperty([x], 1, { enumerable: true, get() { throw new Error("no"); } }), // biome-ignore format: short
    "a getter named then": (x) => ({
      // biome-ignore lint/suspicious/noThenProperty: this is what is tested
      get then() {
        throw new Error("no");
      },
      x,
    }),
    "a proxy that refuses": (x) => [
      x,
      new Proxy({}, { ownKeys() { throw new Error("no"); }, get() { throw new Error("no"); } }), // biome-ignore format: short
    ],
    "a revoked proxy": (x) => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return [x, proxy];
    },
    "a getter that makes more of its kind": (x) => {
      const more = () => ({ get next() { return more(); } }); // biome-ignore format: short
      return { x, more: more() };
    },
    "more elements than a call may have arguments": (x) => [
      x,
      new Set(Array(200_000).keys()),
      Array(200_000).fill(0),
    ],
  };

  for (const [what, returned] of Object.entries(failing)) {
    test(`is found beside ${what}, and the rest is freed`, async () => {
      const before = handles();
      let x;
      const body = () => {
        eg.zeros([1]).add(1);
        x = eg.ones([1]);
        return returned(x);
      };
      const result = eg.scope(body);
      assert.equal(handles(), before + 1);
      assert.equal(x.item(), 1);
      x.dispose();
      if (what !== "a getter named then") {
        assert.equal(typeof result, "object");
        await eg.scope(async () => {
          await null;
          return body();
        });
        assert.equal(handles(), before + 1);
        x.dispose();
      }
    });
  }

  test("may be a proxy or a promise that refuses to be looked at", async () => {
    const revoked = (target) => {
      const { proxy, revoke } = Proxy.revocable(target, {});
      revoke();
      return proxy;
    };
    const no = () => {
      throw new Error("no");
    };
    const before = handles();
    const values = [
      revoked({}),
      revoked(() => {}),
      new Proxy({}, { getPrototypeOf: no }),
      new Proxy({}, { get: no, getPrototypeOf: no, ownKeys: no }),
    ];
    for (const value of values) {
      const result = eg.scope(() => {
        eg.zeros([1]).add(1);
        return value;
      });
      assert.ok(result === value);
    }
    // biome-ignore lint/suspicious/noThenProperty: this is what is tested
    const promise = Object.assign(Promise.resolve(7), { then: no });
    const later = eg.scope(() => {
      eg.zeros([1]);
      return promise;
    });
    assert.equal(await later, 7);
    const unknown = Object.defineProperty(Promise.resolve(7), "constructor", { get: no });
    await assert.rejects(
      eg.scope(async () => {
        eg.zeros([1]);
        return unknown;
      }),
      /no/,
    );
    eg.scope(() => {
      eg.zeros([1]);
      return unknown;
    });
    assert.equal(handles(), before);
  });

  test("may be any object with a then()", async () => {
    const before = handles();
    // biome-ignore lint/suspicious/noThenProperty: this is what is tested
    const thenable = { then: (resolve) => resolve(eg.ones([1])) };
    const result = await eg.scope(() => {
      eg.zeros([1]);
      return thenable;
    });
    assert.equal(result.item(), 1);
    result.dispose();
    // biome-ignore lint/suspicious/noThenProperty: this is what is tested
    const failing = { then: () => assert.fail("no") };
    await assert.rejects(
      eg.scope(() => [eg.zeros([1]), failing][1]),
      /no/,
    );
    assert.equal(handles(), before);
  });

  test("is handed on when getters of it make tensors", async () => {
    const before = handles();
    eg.scope(() => {
      eg.scope(() => ({
        get fresh() {
          return eg.ones([1]);
        },
      }));
    });
    assert.equal(handles(), before);
  });
});

// As in browsers, where the running async function cannot be determined.
test("without an async context overlapping scopes leak nothing either", async () => {
  const programs = Object.entries(kPrograms).map(
    ([what, program]) => `${JSON.stringify(what)}: ${program}`,
  );
  const { status, stdout, stderr } = await runProgram(
    `
    import assert from "node:assert/strict";
    import { collectGarbage } from "./tests/js/support/collect_garbage.mjs";
    const { getBuiltinModule } = process;
    process.getBuiltinModule = (name) => name === "node:async_hooks" ? undefined : getBuiltinModule(name);
    const eg = await import("edgegrad");
    await eg.init({ threads: 1 });
    const inTimer = ${inTimer};
    ${gate}
    const programs = {${programs.join(",\n")}};
    const left = {};
    for (const [what, program] of Object.entries(programs)) {
      const before = eg.memory().jsHandles;
      for (let i = 0; i < 20; i++) {
        await program({ scope: eg.scope, make: () => eg.zeros([100]).add(1) });
      }
      await collectGarbage();
      left[what] = eg.memory().jsHandles - before;
    }
    console.log(JSON.stringify(left));`,
  );
  assert.equal(status, 0, stderr);
  for (const [what, left] of Object.entries(JSON.parse(stdout))) assert.equal(left, 0, what);
});
