// The functions that tests/js/engine/spawn.test.mjs runs in the engine's own workers.

import { threadId } from "node:worker_threads";
import * as eg from "edgegrad";
import { until } from "../../support/until.mjs";

export { busyForever } from "./thread_module.mjs";

const kHere = import.meta.url;

export const thread = () => threadId;

export const same = (value) => value;

/** Returns its argument and its thread in a later turn of the event loop. */
export const later = async (value) => {
  await new Promise(setImmediate);
  return [value, threadId];
};

/** Returns a value once a flag is set. */
export const onceSet = async (flag, value) => {
  await until("flag", () => flag.item() !== 0);
  return value;
};

/** Marks its arrival in its element of a shared tensor, and returns when all have arrived. */
export const meet = async (arrived, i) => {
  arrived.at(i).fill_(1);
  await until("arrival of all", () => arrived.sum().item() === arrived.numel);
  return i;
};

/** Computes a Fibonacci number; each call makes two further calls in workers. */
export const fibonacci = async (n) => {
  if (n < 2) return n;
  const parts = await Promise.all([n - 1, n - 2].map((k) => eg.spawn(kHere, "fibonacci", k)));
  return parts[0] + parts[1];
};

/** Doubles x `depth` times, each time in another worker, which waits for the next one. */
export const doubled = async (x, depth) =>
  depth === 0 ? x : (await eg.spawn(kHere, "doubled", x, depth - 1)).mul(2);

/** Returns the outcome of a call in another worker. */
export const outcomeOf = (name, ...args) =>
  eg.spawn(kHere, name, ...args).then(
    () => "done",
    (error) => `${error.constructor.name} ${error.code} ${error.message}`,
  );

/** Makes calls in other workers and ends when the first of them is answered. */
export const dieAsking = async (x) => {
  const calls = Array.from({ length: 10 }, (_, i) => eg.spawn(kHere, "later", x.add(i)));
  await Promise.any(calls);
  process.exit(3);
};

export const shapeError = (x) => x.matmul(eg.ones([7, 7]));

export const die = () => process.exit(3);

/** Meets others and ends this worker after its answer; `ended` is 1 once nothing runs in it any more. */
export const dieIdle = async (arrived, i, ended) => {
  await meet(arrived, i);
  process.on("exit", () => {
    Atomics.store(ended, 0, 1);
    Atomics.notify(ended, 0);
  });
  setImmediate(() => process.exit(0));
  return threadId;
};

/** Counts its calls in shared memory. */
export const counting = (_, count) => {
  Atomics.add(count, 0, 1);
};

export const lastOf = (...args) => args.at(-1);

/** Aborts calls in other workers in three ways; returns what they reject with. */
export const abortsOthers = async (x) => {
  const reasonOf = (call) => call.catch((reason) => reason);
  const start = (name, ...args) => {
    const controller = new AbortController();
    const reason = reasonOf(eg.spawn(kHere, name, ...args, { signal: controller.signal }));
    return { reason, abort: (value) => controller.abort(value) };
  };
  const signal = AbortSignal.abort("given before");
  const reasons = [await reasonOf(eg.spawn(kHere, "same", x, { signal }))];
  const running = eg.zeros([1]);
  const atWork = start("busyForever", running);
  await until("function at work", () => running.item() === 1);
  const queued = start("same", x);
  queued.abort("while queued");
  reasons.push(await queued.reason);
  atWork.abort("while at work");
  reasons.push(await atWork.reason);
  return reasons;
};

/** Counts its calls in shared memory, then ends this worker. */
export const dieCounting = (_, count) => {
  Atomics.add(count, 0, 1);
  process.exit(3);
};

/** Returns a tensor whose hook belongs to this worker and is called later. */
export const hooked = (x) => {
  const y = x.mul(2);
  y.registerHook((grad) => grad.mul(10));
  return y;
};

const throwing = (thrown) => ({
  get bad() {
    throw thrown;
  },
});

function revoked() {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** Makes values that cannot be sent or cannot be read. */
export const kUnsendable = {
  function: () => () => 1,
  symbol: () => Symbol("s"),
  weak: () => new WeakMap(),
  promise: () => Promise.resolve(1),
  "throws null": () => throwing(null),
  "throws undefined": () => throwing(undefined),
  "throws a symbol": () => throwing(Symbol("thrown")),
  "throws a proxy": () => throwing(revoked()),
  revoked,
  "keys that throw": () =>
    new Proxy(
      {},
      {
        ownKeys() {
          throw null;
        },
      },
    ),
  "prototype that throws": () =>
    new Proxy(
      {},
      {
        getPrototypeOf() {
          throw null;
        },
      },
    ),
  instance: () =>
    new (class {
      get bad() {
        throw null;
      }
      own = Symbol("own");
    })(),
  "map with a symbol": () => new Map([[1, Symbol("in a map")]]),
};

/** Returns tensors and a value that cannot be sent, in some order. */
export const returns = (kind) => {
  const [first, last] = [eg.ones([100]), eg.ones([100])];
  return { first, list: [first, kUnsendable[kind]()], last };
};

const kThrown = {
  null: () => null,
  undefined: () => undefined,
  symbol: () => Symbol("thrown"),
  bigint: () => 5n,
  function: () => () => 1,
  revoked,
  "text that throws": () => ({
    toString() {
      throw null;
    },
    fn() {},
  }),
  "message that is a bigint": () => Object.assign(new Error("x"), { message: 5n }),
  "message that is a symbol": () => Object.assign(new Error("x"), { message: Symbol("m") }),
  "properties that throw": () =>
    new (class extends Error {
      get name() {
        throw null;
      }
      get stack() {
        throw null;
      }
      get code() {
        throw null;
      }
      fn = () => 1;
    })("x"),
  "holds a function": () => ({ fn: () => 1 }),
};

export const kThrownKinds = Object.keys(kThrown);

export const throws = (kind) => {
  eg.ones([100]);
  throw kThrown[kind]();
};

/** Returns whether the engine gives this thread's own objects of a tensor of another thread. */
export function identity(x) {
  let seen = null;
  x.registerPostAccumulateGradHook((param) => {
    seen = param;
  });
  x.mul(2).sum().backward();
  return { base: x.narrow(0, 0, 1).base === x, parameter: seen === x };
}
