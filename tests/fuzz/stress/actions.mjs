// The actions of the stress fuzzer's programs. Each action is a small program whose result is known, independent of
// other actions and threads. A seed determines the details.

import { Problem } from "../oracle.mjs";
import { inMode, withHooks } from "./decorations.mjs";
import { checkGradient, Graph } from "./graphs.mjs";
import { scopes } from "./scopes.mjs";

const pause = () => new Promise(setImmediate);

/** backward() immediately, with hooks and modes that do not change the result. */
async function decorated(world, random) {
  const { eg } = world;
  const graph = new Graph(world, random);
  const expected = graph.expected();
  eg.scope(() => {
    const x = graph.leaf();
    const { root, results } = graph.run(x, inMode(eg, random));
    const remove = withHooks(eg, random, x, results);
    if (random.chance(0.3)) globalThis.gc();
    root.backward();
    if (random.chance(0.5)) remove();
    checkGradient(x.grad.dataSync(), expected, "backward()");
  });
}

/** The same with a deferred call; tensors that are not disposed of are left to the garbage collector. */
async function later(world, random) {
  const { eg } = world;
  const graph = new Graph(world, random);
  const expected = graph.expected();
  const x = graph.leaf();
  const { root, results } = graph.run(x, inMode(eg, random));
  const remove = withHooks(eg, random, x, results);
  const call = random.chance(0.5) ? root.backwardAsync() : eg.autograd.gradAsync(root, [x]);
  if (random.chance(0.5)) root.dispose();
  if (random.chance(0.3)) globalThis.gc();
  if (random.chance(0.3)) await pause();
  const grads = await call;
  remove();
  checkGradient(await (grads?.[0] ?? x.grad).data(), expected, "a call that runs later");
}

const kModes = {
  savedTensorsHooks: (eg, fn) =>
    eg.autograd.graph.savedTensorsHooks(
      (tensor) => ({ kept: tensor.detach().clone() }),
      ({ kept }) => kept.clone(),
      fn,
    ),
  packedTensors: (eg, fn) =>
    eg.autograd.graph.savedTensorsHooks(
      (tensor) => tensor.mul(1),
      (tensor) => tensor.mul(1),
      fn,
    ),
  disableSavedTensorsHooks: (eg, fn) =>
    eg.autograd.graph.disableSavedTensorsHooks("not in here", fn),
  noGrad: (eg, fn) => eg.noGrad(fn),
  inferenceMode: (eg, fn) => eg.inferenceMode(fn),
  autocast: (eg, fn) => eg.autocast(fn, { dtype: "bfloat16", enabled: false }),
  detectAnomaly: (eg, fn) => eg.autograd.detectAnomaly(fn),
  profile: (eg, fn) => eg.autograd.profile(fn),
  dualLevel: (eg, fn) => eg.autograd.forwardAd.dualLevel(fn),
};

/** A deferred call that is started in a mode which ends before the call runs. */
async function early(world, random) {
  const { eg } = world;
  const graph = new Graph(world, random);
  const expected = graph.expected();
  const x = graph.leaf();
  const { root } = graph.run(x);
  const createGraph = random.chance(0.6);
  const calls = [];
  const mode = kModes[random.pick(Object.keys(kModes))];
  mode(eg, () => {
    for (let i = 1 + random.int(3); i > 0; i--) {
      calls.push(eg.autograd.gradAsync(root, [x], { createGraph, retainGraph: true }));
    }
  });
  if (random.chance(0.5)) globalThis.gc();
  for (const [grad] of await Promise.all(calls)) {
    checkGradient(await grad.detach().data(), expected, "a call whose mode has ended");
  }
}

/** Several concurrent calls over one graph, each of which adds its gradient. */
async function overlapping(world, random) {
  const { eg } = world;
  const graph = new Graph(world, random);
  const expected = graph.expected();
  const x = graph.leaf();
  const { root, results } = graph.run(x);
  const [between = x] = results.slice(1);
  between.retainGrad();
  const count = 2 + random.int(4);
  let [all, any] = [0, 0];
  const hooks = [
    eg.autograd.graph.registerMultiGradHook([x, between], () => all++),
    eg.autograd.graph.registerMultiGradHook([x, between], () => any++, "any"),
  ];
  const calls = Array.from({ length: count }, () =>
    root.backwardAsync(null, { retainGraph: true }),
  );
  await Promise.all(calls);
  for (const hook of hooks) hook.remove();
  checkGradient(await x.grad.data(), expected, `${count} calls at once`, count);
  if (all !== count || any !== count) {
    throw new Problem("wrong value", `hooks of ${count} calls ran ${all} and ${any} times`);
  }
  if (between === x) return;
  const alone = eg.scope(() => {
    const again = graph.leaf();
    const { root: sum, results: others } = graph.run(again);
    others[1].retainGrad();
    sum.backward();
    return Array.from(others[1].grad.dataSync());
  });
  checkGradient(await between.grad.data(), alone, `retainGrad of ${count} calls`, count);
}

/** Tensors that are disposed of while a call still needs them. */
async function disposed(world, random) {
  const graph = new Graph(world, random);
  const expected = graph.expected();
  const x = graph.leaf();
  const { root, results } = graph.run(x);
  const call = root.backwardAsync();
  for (const tensor of [root, ...results]) if (random.chance(0.7)) tensor.dispose();
  await call;
  checkGradient(await x.grad.data(), expected, "a call whose tensors were disposed of");
  x.dispose();
}

/** Compares a captured function, which is disposed of in the same turn, with the function itself. */
async function captured(world, random) {
  const { eg, shared } = world;
  const graph = new Graph(world, random);
  const other = random.pick(shared);
  const fn = (x) => x.tanh().mul(other).add(1);
  const x = graph.leaf().detach();
  const replayed = eg.capture(fn, x);
  const result = replayed(x);
  if (random.chance(0.7)) replayed.dispose();
  const expected = eg.scope(() => Array.from(fn(x).dataSync()));
  checkGradient(await result.data(), expected, "a captured function");
  if (!replayed.disposed) replayed.dispose();
}

const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
const kThrown = [
  new Error("plain"),
  null,
  undefined,
  7n,
  Symbol("thrown"),
  proxy,
  Object.assign(new Error("x"), { message: 1n }),
  Object.assign(new Error("x"), { message: Symbol("message") }),
  {
    toString: () => {
      throw new Error("in toString");
    },
  },
  Object.defineProperty(new Error("x"), "message", {
    get: () => {
      throw new Error("in message");
    },
  }),
];

/** Hooks that throw values which cannot be converted to text. */
async function thrown(world, random) {
  const { eg } = world;
  const graph = new Graph(world, random);
  const x = graph.leaf();
  const value = random.pick(kThrown);
  x.registerHook(() => {
    throw value;
  });
  const { root } = graph.run(x);
  const isSync = random.chance(0.5);
  let hasFailed = false;
  try {
    if (isSync) root.backward();
    else await root.backwardAsync();
  } catch (error) {
    hasFailed = true;
    if (isSync && error !== value)
      throw new Problem("wrong value", `expected the thrown value, got: ${error?.stack}`);
  }
  if (!hasFailed) throw new Problem("wrong value", "the value thrown by a hook was lost");
  if (!eg.isGradEnabled()) throw new Problem("mode left on", "grad mode is off");
}

/** A weight that all threads train concurrently: its values are arbitrary, but the process must not crash. */
async function hogwild(world, random) {
  const { eg, weight } = world;
  const optimizer = new eg.optim.SGD([weight], { lr: 1e-4 });
  for (let step = 4 + random.int(12); step > 0; step--) {
    try {
      eg.scope(() => {
        optimizer.zeroGrad();
        weight.square().mean().backward();
        const { grad } = weight;
        if (grad !== null && grad.numel !== weight.numel) {
          throw new Problem("wrong value", `a gradient of shape ${grad.shape}`);
        }
        optimizer.step();
      });
    } catch (error) {
      // Caused by another thread's step on a saved weight, as in PyTorch.
      if (error?.code !== "ModifiedInPlace") throw error;
    }
    if (random.chance(0.2)) await pause();
  }
}

/** Creates and frees many handles. */
async function churn(world, random) {
  const { eg, device } = world;
  for (let i = 0; i < 2000; i++) {
    const x = eg.ones([2], { device });
    x.dispose();
    if (random.chance(0.1)) x.dispose();
    if (random.chance(0.05)) eg.ones([2], { device });
  }
}

/** A checkpoint that is recomputed, also inside autocast. */
async function checkpointed(world, random) {
  const { eg, device } = world;
  const graph = new Graph(world, random);
  // The WebGPU device does not support bfloat16.
  const isLower = random.chance(0.4) && device === "cpu";
  const inside = (fn) => (isLower ? eg.autocast(fn, { dtype: "bfloat16" }) : fn());
  const run = (around) =>
    eg.scope(() => {
      const x = graph.leaf();
      inside(() => around((given) => graph.run(given).root, x)).backward();
      return Array.from(x.grad.dataSync());
    });
  const expected = run((fn, x) => fn(x));
  checkGradient(
    run((fn, x) => eg.autograd.checkpoint(fn, x)),
    expected,
    "a checkpoint",
  );
}

/** Collects garbage. */
async function collected() {
  globalThis.gc();
  await pause();
}

/** The actions, which may run on any thread. */
export const kActions = {
  decorated,
  later,
  early,
  overlapping,
  disposed,
  scopes,
  captured,
  thrown,
  hogwild,
  churn,
  checkpointed,
  collected,
};
