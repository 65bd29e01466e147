// How tensors are freed, and that they are.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { runProgram } from "../support/child.mjs";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";

const handles = () => eg.memory().jsHandles;
const nextTask = () => new Promise(setImmediate);
const tasks = async (count) => {
  for (let i = 0; i < count; i++) await nextTask();
};

describe("dispose", () => {
  test("frees the storage with the last handle", () => {
    const before = eg.memory();
    const x = eg.zeros([1000]);
    const view = x.reshape(10, 100);
    x.dispose();
    assert.equal(x.disposed, true);
    assert.ok(eg.memory().cpuBytes > before.cpuBytes);
    view.dispose();
    assert.equal(eg.memory().cpuBytes, before.cpuBytes);
    assert.equal(eg.memory().jsHandles, before.jsHandles);
  });

  test("may be called twice, and by `using`", () => {
    const before = handles();
    const x = eg.zeros([1]);
    x[Symbol.dispose]();
    x.dispose();
    assert.equal(handles(), before);
  });

  test("makes every use an error", () => {
    const x = eg.zeros([1]);
    x.dispose();
    for (const use of [
      () => x.shape,
      () => x.add(1),
      () => eg.add(1, x),
      () => eg.cat([x]),
      () => x.item(),
      () => x.backward(),
      () => x.requiresGrad_(),
      () => String(x),
    ]) {
      assertThrows(use, "Disposed", /disposed/);
    }
  });

  test("of an intermediate result does not stop its gradient", () => {
    const x = eg.tensor([3], { requiresGrad: true });
    const y = x.mul(x);
    const z = y.mul(2);
    y.dispose();
    z.backward();
    assert.equal(x.grad.item(), 12);
  });
});

describe("scope", () => {
  test("frees what it does not return", () => {
    const before = handles();
    const kept = eg.scope(() => {
      eg.zeros([1]).add(1);
      return { list: [eg.ones([1])], map: new Map([["a", eg.ones([1])]]) };
    });
    assert.equal(handles(), before + 2);
    assert.equal(kept.list[0].item(), 1);
    kept.list[0].dispose();
    kept.map.get("a").dispose();
  });

  test("frees everything when its function throws", () => {
    const before = handles();
    const failure = new Error("stop");
    assert.throws(
      () =>
        eg.scope(() => {
          eg.zeros([1]);
          throw failure;
        }),
      (error) => error === failure,
    );
    assert.equal(handles(), before);
  });

  test("hands what an inner scope returns to the outer one", () => {
    const before = handles();
    eg.scope(() => {
      const inner = eg.scope(() => [eg.zeros([1]), eg.zeros([2])]);
      assert.equal(inner[0].disposed, false);
    });
    assert.equal(handles(), before);
  });

  test("leaves what keep() marks, at any depth", () => {
    const before = handles();
    let kept;
    eg.scope(() => {
      eg.scope(() => {
        kept = eg.keep({ a: eg.zeros([1]) });
      });
    });
    assert.equal(kept.a.disposed, false);
    kept.a.dispose();
    assert.equal(handles(), before);
  });

  test("keeps the parameters of a module it returns", () => {
    const before = handles();
    const model = eg.scope(() => new eg.nn.Sequential(new eg.nn.Linear(2, 2), new eg.nn.ReLU()));
    assert.equal(handles(), before + 2);
    for (const parameter of model.parameters()) parameter.dispose();
  });

  test("of an async function ends when its promise settles", async () => {
    await collectGarbage();
    const before = handles();
    const result = await eg.scope(async () => {
      eg.zeros([1]);
      await nextTask();
      eg.zeros([1]);
      await null;
      return eg.ones([1]);
    });
    assert.equal(handles(), before + 1);
    result.dispose();
    await assert.rejects(
      eg.scope(async () => {
        eg.zeros([1]);
        await nextTask();
        throw new Error("stop");
      }),
      /stop/,
    );
    assert.equal(handles(), before);
  });

  test("does not mix async functions that run at the same time, nor other code", async () => {
    await collectGarbage();
    const before = handles();
    const work = async (count) => {
      const mine = eg.full([1], count);
      for (let i = 0; i < 5; i++) {
        await tasks(count);
        eg.zeros([1]);
        assert.equal(mine.disposed, false);
      }
      return mine;
    };
    const running = [1, 3, 2].map((count) => eg.scope(() => work(count)));
    const outside = eg.zeros([1]);
    const results = await Promise.all(running);
    assert.deepEqual(
      results.map((tensor) => tensor.item()),
      [1, 3, 2],
    );
    assert.equal(outside.disposed, false);
    assert.equal(handles(), before + 4);
    for (const tensor of [...results, outside]) tensor.dispose();
  });
});

// As in browsers, where the running async function cannot be determined.
describe("scope without an async context", () => {
  const run = async (body) => {
    const { status, stdout, stderr } = await runProgram(`
      const { getBuiltinModule } = process;
      process.getBuiltinModule = (name) => name === "node:async_hooks" ? undefined : getBuiltinModule(name);
      const eg = await import("edgegrad");
      await eg.init({ threads: 1 });
      const handles = () => eg.memory().jsHandles;
      const nextTask = ${nextTask};
      const tasks = ${tasks};
      ${body}`);
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout);
  };

  test("frees what one async function makes", async () => {
    const result = await run(`
      const kept = await eg.scope(async () => {
        eg.zeros([1]);
        await nextTask();
        eg.scope(() => eg.zeros([1]).add(1));
        eg.zeros([1]);
        return eg.ones([1]);
      });
      console.log(JSON.stringify([handles(), kept.item()]));`);
    assert.deepEqual(result, [1, 1]);
  });

  test("frees nothing too early when several overlap", async () => {
    const result = await run(`
      const work = async (count) => {
        const mine = eg.full([1], count);
        for (let i = 0; i < 5; i++) {
          await tasks(count);
          mine.add(1);
        }
        return mine;
      };
      const results = await Promise.all([1, 3, 2].map((count) => eg.scope(() => work(count))));
      console.log(JSON.stringify(results.map((tensor) => tensor.item())));`);
    assert.deepEqual(result, [1, 3, 2]);
  });
});

describe("plain code", () => {
  test("that returns to the event loop stays flat", async () => {
    const bytes = 1 << 20;
    let peak = 0;
    const before = eg.memory().cpuBytes;
    const x = eg.zeros([bytes / 4]);
    for (let step = 0; step < 200; step++) {
      for (let i = 0; i < 10; i++) x.add(1);
      if (step % 5 === 4) await nextTask();
      peak = Math.max(peak, eg.memory().cpuBytes - before);
    }
    // 2000 tensors of 1 MiB were made.
    assert.ok(peak < 1000 * bytes, `${Math.round(peak / bytes)} MiB were alive at once`);
  });

  test("that trains for many steps keeps neither graphs nor gradients", async () => {
    const model = new eg.nn.Sequential(
      new eg.nn.Linear(8, 8),
      new eg.nn.Tanh(),
      new eg.nn.Linear(8, 1),
    );
    const optimizer = new eg.optim.Adam(model.parameters());
    const x = eg.randn([16, 8]);
    const run = async (steps) => {
      for (let step = 0; step < steps; step++) {
        const loss = model.call(x).square().mean();
        optimizer.zeroGrad();
        loss.backward();
        optimizer.step();
        if (step % 10 === 9) await nextTask();
      }
      await collectGarbage();
      return eg.memory();
    };
    const first = await run(100);
    const second = await run(1000);
    assert.ok(
      second.jsHandles <= first.jsHandles + 20,
      `${first.jsHandles} -> ${second.jsHandles}`,
    );
    assert.ok(second.graphNodes <= first.graphNodes + 20);
    assert.ok(second.cpuBytes <= first.cpuBytes + 20_000);
  });

  const program = (body) => `
    import * as eg from "edgegrad";
    await eg.init({ threads: 1 });
    const x = eg.zeros([1]);
    ${body}`;

  test("that never returns to the event loop gets one warning that names eg.scope()", async () => {
    const loop = await runProgram(program("for (let i = 0; i < 250_000; i++) x.add(1);"));
    assert.equal(loop.status, 0, loop.stderr);
    assert.equal(loop.stderr.match(/eg\.scope/g)?.length, 1, loop.stderr);
    const scoped = await runProgram(
      program(
        "for (let i = 0; i < 25_000; i++) eg.scope(() => { for (let k = 0; k < 10; k++) x.add(1); });",
      ),
    );
    assert.equal(scoped.stderr, "");
    const large = await runProgram(
      program("const big = eg.zeros([2 ** 22]); for (let i = 0; i < 80; i++) big.add(1);"),
    );
    assert.match(large.stderr, /eg\.scope/);
  });

  describe("inside one scope gets one warning that says to put the scope inside the loop:", () => {
    const kLoops = {
      "a loop without a pause": "eg.scope(() => { for (let i = 0; i < 150_000; i++) x.add(1); });",
      "a loop that awaits": `await eg.scope(async () => {
        for (let i = 0; i < 12_000; i++) {
          x.add(1);
          if (i % 100 === 0) await new Promise(setImmediate);
        }
      });`,
      "two loops": `for (const _ of [1, 2]) {
        eg.scope(() => { for (let i = 0; i < 12_000; i++) x.add(1); });
      }`,
      "a loop of large tensors": `const big = eg.zeros([2 ** 22]);
        eg.scope(() => { for (let i = 0; i < 80; i++) big.add(1); });`,
      "a loop of layers with scopes of their own": `const layer = new eg.nn.RNN(2, 2);
        const input = eg.ones([1, 2]);
        eg.scope(() => { for (let i = 0; i < 3_000; i++) layer.call(input); });`,
    };
    for (const [what, body] of Object.entries(kLoops)) {
      test(what, async () => {
        const { status, stderr } = await runProgram(program(body));
        assert.equal(status, 0, stderr);
        assert.match(stderr, /^edgegrad: .*put it inside the loop: .*\n$/);
      });
    }

    test("and none where a scope holds few tensors, or the package makes many", async () => {
      const { status, stderr } = await runProgram(
        program(`eg.scope(() => { for (let i = 0; i < 60_000; i++) x.add(1).dispose(); });
          eg.scope(() => { for (let i = 0; i < 12_000; i++) eg.scope(() => x.add(1).mul(2)).dispose(); });
          eg.scope(() => { for (let i = 0; i < 4_500; i++) x.add(1); });
          const samples = Array.from({ length: 12_000 }, () => new Float32Array([1, 2]));
          eg.data.defaultCollate(samples).dispose();
          eg.scope(() => eg.data.defaultCollate(samples).sum().item());`),
      );
      assert.equal(status, 0, stderr);
      assert.equal(stderr, "");
    });
  });
});
