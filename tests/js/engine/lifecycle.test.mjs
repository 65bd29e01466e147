// init() and shutdown() in every order: random sequences of calls are compared with a model of the engine's lifecycle.
// The model is the table in web/src/engine/lifecycle.ts.

import assert from "node:assert/strict";
import { after, afterEach, describe, test } from "node:test";
import * as eg from "edgegrad";
import { soon } from "../../support/until.mjs";

const kModule = new URL("../support/thread_module.mjs", import.meta.url).href;

const kNowhere = { threads: 1, wasmUrl: "file:///nowhere/" };
const kNoGpu = { threads: 2, webgpu: "required", gpu: { requestAdapter: async () => null } };
const kWrong = { threads: 0 };

/** Options, and the error that a start with them rejects with. */
const kStarts = [
  { options: { threads: 1 } },
  { options: { threads: 2 } },
  { options: { threads: 3 } },
  { options: { threads: 1, variant: "single" } },
  { options: { threads: 2, webgpu: "off" } },
  { options: kNowhere, error: /^InvalidArgument \[init\].*could not be started/ },
  { options: kNoGpu, error: /^DeviceUnavailable \[init\]/ },
  { options: kWrong, error: /^InvalidArgument \[init\].*threads/ },
];

function randomNumbers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
}

const outcome = (promise) =>
  promise.then(
    () => "done",
    (error) => `${error.code} ${error.message}`,
  );

/** The state of the model after the calls so far. */
class Model {
  /** The engine that the next call finds, { start, isEnding }. */
  life = null;

  /** Returns the expected outcome of an init(). */
  init(start) {
    const { options, error = /^done$/ } = start;
    if (options === kWrong) return error;
    if (this.life === null || this.life.isEnding) {
      this.life = { start, isEnding: false };
      return error;
    }
    const { options: has, error: failure } = this.life.start;
    const differs = ["threads", "variant", "webgpu", "wasmUrl"].some((name) => {
      const isOpenable = options[name] === "required" && has[name] === undefined;
      return name in options && options[name] !== has[name] && !isOpenable;
    });
    if (differs) return /^InvalidArgument \[init\].*was requested/;
    if (failure !== undefined) return failure;
    return options.webgpu === "required" ? /^(DeviceUnavailable|Internal .*shut down)/ : /^done$/;
  }

  shutdown() {
    if (this.life !== null) this.life.isEnding = true;
  }

  settle() {
    if (this.life?.isEnding || this.life?.start.error !== undefined) this.life = null;
  }
}

/** Work that is pending during the calls, and its possible outcomes. */
const kWork = [
  () => eg.spawn(kModule, "thread"),
  () => eg.spawn(kModule, "twice", eg.ones([3])),
  () => eg.ones([50, 50], { requiresGrad: true }).square().sum().backwardAsync(),
  () => eg.autograd.gradAsync(eg.ones([], { requiresGrad: true }).mul(2), []),
  () => eg.ones([3]).array(),
  async () => {
    const loader = new eg.data.DataLoader([1, 2, 3, 4].map(Number), { batchSize: 2 });
    for await (const batch of loader) batch.sum().item();
  },
  async () => eg.ones([3]).sum().item(),
];
const kWorkOutcomes =
  /^(done$|NotInitialized|Internal .*(shut down|ended)|Disposed|InvalidArgument .*(threads|gradient|input))/;

async function runSequence(seed, length) {
  const random = randomNumbers(seed);
  const model = new Model();
  const calls = [];
  const actions = [];
  const note = (name, promise, expected) => {
    actions.push(name);
    calls.push({ name, done: soon(`outcome of ${name}`, outcome(promise)), expected });
  };
  const settleAll = async () => {
    for (const { name, done, expected } of calls.splice(0)) {
      assert.match(await done, expected, `${name} of seed ${seed}: ${actions.join(", ")}`);
    }
    model.settle();
    const { life } = model;
    if (life === null)
      assert.throws(() => eg.ones([1]), { code: "NotInitialized" }, `seed ${seed}`);
    else {
      assert.equal(eg.runtime().threads, life.start.options.threads, `seed ${seed}`);
      assert.equal(eg.ones([3]).sum().item(), 3);
    }
  };
  for (let i = 0; i < length; i++) {
    const kind = random(10);
    if (kind < 4) {
      const start = kStarts[random(kStarts.length)];
      note(`init(${JSON.stringify(start.options)})`, eg.init(start.options), model.init(start));
    } else if (kind < 7) {
      model.shutdown();
      note("shutdown()", eg.shutdown(), /^done$/);
    } else if (kind < 8) {
      const which = random(kWork.length);
      const work = (async () => await kWork[which]())();
      note(`work ${which}`, work, kWorkOutcomes);
    } else if (kind < 9 && model.life?.start.error === undefined) {
      // The model does not predict when a start fails.
      actions.push("wait");
      await new Promise((resolve) => setTimeout(resolve, random(4) * 3)); // timer: any moment of the start will do
    } else if (kind === 9) {
      actions.push("settle");
      await settleAll();
    }
  }
  await settleAll();
  note("the last shutdown()", eg.shutdown(), /^done$/);
  model.shutdown();
  await settleAll();
}

describe("init and shutdown", () => {
  afterEach(() => eg.shutdown());
  after(() => eg.shutdown());

  test("in any order end as the calls say", async () => {
    for (let seed = 1; seed <= 60; seed++) await runSequence(seed, 12);
  });

  test("init during shutdown gives an engine that works", async () => {
    await eg.init({ threads: 2 });
    const ending = eg.shutdown();
    await eg.init({ threads: 2 });
    assert.equal(eg.ones([4]).sum().item(), 4);
    await ending;
    assert.equal(eg.ones([4]).sum().item(), 4);
  });

  // React's strict mode does this: mount, unmount, mount.
  test("init, shutdown and init at once give the second engine", async () => {
    const sums = [];
    const first = eg.init({ threads: 2 }).then(() => sums.push(eg.ones([2]).sum().item()));
    const ending = eg.shutdown();
    const second = eg.init({ threads: 3 }).then(() => sums.push(eg.runtime().threads));
    await Promise.all([first, ending, second]);
    assert.deepEqual(sums, [2, 3]);
    assert.equal(eg.ones([2]).sum().item(), 2);
  });

  test("each call belongs to the engine it finds, whatever comes later", async () => {
    const calls = [
      eg.init({ threads: 1 }),
      eg.init({ threads: 2 }),
      eg.shutdown(),
      eg.init({ threads: 2 }),
      eg.init({ threads: 1 }),
      eg.shutdown(),
      eg.shutdown(),
      eg.init(kNowhere),
      eg.shutdown(),
      eg.init({ threads: 3 }),
    ];
    const ends = await Promise.all(calls.map(outcome));
    const codes = ends.map((end) => end.split(" ")[0]);
    const refused = "InvalidArgument";
    assert.deepEqual(codes, [
      "done",
      refused,
      "done",
      "done",
      refused,
      "done",
      "done",
      refused,
      "done",
      "done",
    ]);
    assert.equal(eg.runtime().threads, 3);
  });

  test("calls of spawn that wait their turn at shutdown are rejected, and the next engine has its own", async () => {
    await eg.init({ threads: 1, spawnWorkers: 1 });
    const pending = Array.from({ length: 20 }, () =>
      outcome(eg.spawn(kModule, "twice", eg.ones([9]))),
    );
    await eg.shutdown();
    for (const end of await Promise.all(pending)) assert.match(end, /^(done|Internal \[spawn\])/);
    await eg.init({ threads: 1, spawnWorkers: 1 });
    const { doubled } = await eg.spawn(kModule, "twice", eg.ones([9]));
    assert.equal(doubled.sum().item(), 18);
  });
});
