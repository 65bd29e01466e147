// The functions that tests/js/engine/threads.test.mjs runs in engine workers.

import { threadId } from "node:worker_threads";
import * as eg from "edgegrad";

export const twice = (x) => ({ doubled: x.mul(2), list: [x, 1] });

export const thread = () => threadId;

export const addInPlace = (x, value) => {
  eg.noGrad(() => x.add_(value));
};

export const typeError = () => {
  throw new TypeError("wrong in the worker");
};

export const shapeError = (x) => x.matmul(eg.ones([7, 7]));

export const unsendable = () => () => 1;

export const same = (value) => value;

/** Returns a tensor inside an object that cannot be sent. */
export const hidden = (kind) => {
  const x = eg.ones([1]);
  if (kind === "map") return new Map([["x", x]]);
  if (kind === "set") return { set: new Set([x]) };
  return kind === "layer"
    ? new eg.nn.Linear(1, 1)
    : [
        new (class Box {
          x = x;
        })(),
      ];
};

export const die = () => process.exit(3);

/** Calls backward on this thread, for a graph that another thread has made. */
export const backward = (loss) => {
  loss.backward();
  return threadId;
};

/** Returns the error that backward throws on this thread. */
export const backwardError = (loss) => {
  try {
    loss.backward();
    return null;
  } catch (error) {
    return { name: error.name, message: error.message };
  }
};

/** Returns twice x, with a hook of this thread that reports where it ran through `ranOn`. */
export const hooked = (x, ranOn) => {
  // The hook outlives this call, whose arguments are freed at its end.
  eg.keep(ranOn);
  const y = x.mul(2);
  y.registerHook((grad) => {
    eg.noGrad(() => ranOn.fill_(threadId));
    return grad.mul(10);
  });
  return y;
};

/** Reports that it is running, then keeps its thread busy until `flag` is set. */
export const busy = (running, flag) => {
  eg.noGrad(() => running.fill_(1));
  while (flag.item() === 0);
  return "done";
};

/** Reports that it is running, then keeps its thread busy. */
export const busyForever = (running) => {
  eg.noGrad(() => running.fill_(1));
  for (;;);
};

/** Adds the gradient of sum(w) to w.grad `count` times. */
export const accumulate = (w, count) => {
  for (let i = 0; i < count; i++) eg.scope(() => w.sum().backward());
};

/** Calls backward on failing graphs; returns how many failed. */
export const failing = (x, count) => {
  let failed = 0;
  for (let i = 0; i < count; i++) {
    try {
      eg.scope(() => {
        const y = x.mul(2);
        y.registerHook(() => {
          throw new Error("no");
        });
        y.sum().backward();
      });
    } catch {
      failed++;
    }
  }
  return failed;
};

export const shutDown = () => eg.shutdown();

/** Ends this worker with an uncaught error while its function is running. */
export const throwLater = (x) => {
  eg.keep(x.mul(2));
  setImmediate(() => {
    throw new Error("nobody catches this");
  });
  return new Promise(() => {});
};

/** Ends this worker while it has live tensors. */
export const dieKeeping = (x) => {
  eg.keep([x, x.mul(2), eg.zeros([1000])]);
  process.exit(0);
};

/** Returns twice x, with a hook that ends this worker. */
export const hookedToDie = (x) => {
  const y = x.mul(2);
  y.registerHook(() => process.exit(4));
  return y;
};

/** Makes and frees tensors of all sizes `rounds` times, and checks their contents. */
export async function makeAndFree(seed, rounds) {
  let random = seed;
  const next = (below) => {
    random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
    return random % below;
  };
  const tensors = [];
  for (let i = 0; i < rounds; ++i) {
    const value = next(100);
    const tensor = eg.full([1 + next(2 ** (1 + next(19)))], value);
    tensors.push([tensor, value]);
    if (tensors.length < 30) continue;
    const [[freed, held]] = tensors.splice(next(tensors.length), 1);
    const { numel } = freed;
    const right = freed.at(0).item() === held && freed.at(numel - 1).item() === held;
    freed.dispose();
    if (!right) throw new Error(`a tensor of ${numel} elements does not hold ${held} any more`);
    if (i % 50 === 0) await new Promise(setImmediate);
  }
  for (const [tensor] of tensors) tensor.dispose();
  return true;
}

/** Draws from the generator that all threads share. */
export function draw(times) {
  for (let i = 0; i < times; i++) eg.scope(() => void eg.rand([3]));
}
