// The functions that tests/webgpu/device/workers.test.mjs runs in engine workers.

import { threadId } from "node:worker_threads";
import * as eg from "edgegrad";
import { until } from "../../support/until.mjs";

/** Trains a separate model; returns its losses and the thread. */
export async function train(seed, steps) {
  const model = new eg.nn.Sequential(
    new eg.nn.Linear(6, 8),
    new eg.nn.Tanh(),
    new eg.nn.Linear(8, 1),
  ).to("webgpu");
  const state = {};
  for (const [i, [name, parameter]] of model.namedParameters().entries()) {
    const values = Array.from({ length: parameter.numel }, (_, k) => Math.sin(seed + 7 * i + k));
    state[name] = eg.tensor(values, { shape: parameter.shape });
  }
  model.loadStateDict(state);
  const x = eg.tensor(
    Array.from({ length: 24 }, (_, k) => Math.cos(seed + k)),
    { shape: [4, 6], device: "webgpu" },
  );
  const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.05 });
  const losses = [];
  for (let step = 0; step < steps; step++) {
    await eg.scope(async () => {
      optimizer.zeroGrad();
      const loss = model.call(x).square().mean();
      loss.backward();
      optimizer.step();
      losses.push(step % 2 ? loss.item() : await loss.itemAsync());
    });
  }
  return { losses, thread: threadId };
}

/** Adds to a tensor of another thread. */
export function addOnes(shared, times) {
  eg.noGrad(() => {
    for (let i = 0; i < times; i++) shared.add_(1);
  });
  return shared.device;
}

/** Adds the gradient of sum(w) to that of a tensor of another thread. */
export function accumulate(w, times) {
  for (let i = 0; i < times; i++) eg.scope(() => w.sum().backward());
}

/** Returns a tensor of this thread that has a graph. */
export const square = (x) => ({ squared: x.square(), device: x.device });

export const outOfRange = (x) =>
  x
    .indexSelect(0, eg.tensor([99n], { device: "webgpu" }))
    .sum()
    .item();

/** Ends this worker while reads are pending. */
export const exitReading = (x) => {
  for (let i = 0; i < 50; i++) x.mul(2).data();
  process.exit(0);
};

/** Returns 2x, with a hook of this thread that reads the gradient and writes its sum into `seen`. */
export const hooked = (x, seen) => {
  // The hook outlives this call, which frees its arguments when it ends.
  eg.keep(seen);
  const y = x.mul(2);
  y.registerHook((grad) => {
    eg.noGrad(() => seen.fill_(grad.sum().item()));
    return grad.mul(10);
  });
  return y;
};

/** Returns the gradient of sum(2x), times that of z^2 at 5, which a hook of this thread computes with a nested backward call. */
export const nested = (x) => {
  const w = x.detach().requiresGrad_();
  w.registerHook((grad) => {
    const z = eg.tensor(5, { device: "webgpu", requiresGrad: true });
    eg.enableGrad(() => z.square().backward());
    return grad.mul(z.grad.item());
  });
  w.mul(2).sum().backward();
  return w.grad.arraySync();
};

/** Reads until this thread is ended, and sets `running` to 1 when it has begun. */
export const readForever = (x, running) => {
  for (;;) {
    eg.scope(() => x.mul(2).sum().item());
    running.fill_(1);
  }
};

/** Sets `state` to 1 when it holds a tensor of the device, and waits until it is 2; returns the error codes of its uses, and what a new tensor has. */
export async function holdOver(x, state) {
  const y = x.mul(2);
  state.fill_(1);
  await until("next state", () => state.item() === 2);
  const uses = [
    () => x.data(),
    () => y.sum().itemAsync(),
    () => eg.noGrad(() => x.add_(1)),
    () => y.add(1),
    () => y.to("cpu"),
  ];
  const codes = [];
  for (const use of uses) {
    try {
      codes.push(`no error, ${await use()}`);
    } catch (error) {
      codes.push(error.code);
    }
  }
  x.dispose();
  return { codes, values: await eg.tensor([1, 2], { device: "webgpu" }).mul(3).array() };
}
