// Optimizer steps match the CPU's.

import { test } from "node:test";
import { eg } from "../js/support/engine.mjs";
import { assertClose, randoms } from "./support/close.mjs";
import { options, playing } from "./support/playing.mjs";

const kCount = 1003;
const kSteps = 4;
const grads = Array.from({ length: kSteps }, (_, step) => randoms(kCount, 20 + step));
const start = randoms(kCount, 7);

/** Returns the parameter after some steps of one of the package's optimizers. */
function onCpu(make) {
  const param = eg.tensor(start, { requiresGrad: true });
  const optimizer = make([param]);
  for (const grad of grads) {
    param.grad = eg.tensor(grad);
    optimizer.step();
  }
  return Array.from(param.dataSync());
}

/**
 * Returns the parameter after the same steps with a kernel. `fields(step, param, grad, state)` are its fields; the state starts
 * as zeros. Also checks that a multiple of four elements, for which kernels use vectors, changes in the same way.
 */
async function onDevice(name, fields) {
  const all = await stepped(kCount, name, fields);
  const some = await stepped(kCount - (kCount % 4), name, fields);
  assertClose(some, all.slice(0, some.length), kTolerance);
  return all;
}

async function stepped(count, name, fields) {
  const p = playing();
  const view = (numbers) => p.view("float32", numbers.slice(0, count));
  const param = view(start);
  const state = Array.from({ length: 3 }, () => view(new Array(kCount).fill(0)));
  for (const [i, grad] of grads.entries()) p.kernel(name, fields(i + 1, param, view(grad), state));
  return p.read(param);
}

const kTolerance = { relative: 2e-6, absolute: 2e-7 };

test("SGD", options, async () => {
  const kinds = [
    {},
    { momentum: 0.9 },
    { momentum: 0.9, dampening: 0.1, weightDecay: 0.05 },
    { momentum: 0.8, nesterov: true, maximize: true },
  ];
  for (const kind of kinds) {
    const {
      momentum = 0,
      dampening = 0,
      weightDecay = 0,
      nesterov = false,
      maximize = false,
    } = kind;
    const fixed = { lr: 0.1, momentum, dampening, weightDecay, nesterov, maximize };
    const actual = await onDevice("sgd_step", (step, param, grad, [buffer]) => ({
      options: { ...fixed, first: step === 1 },
      ...{ count: param.count, param, grad },
      momentumBuffer: momentum ? buffer : undefined,
    }));
    const expected = onCpu((params) => new eg.optim.SGD(params, { lr: 0.1, ...kind }));
    assertClose(actual, expected, { ...kTolerance, title: JSON.stringify(kind) });
  }
});

test("Adam and AdamW", options, async () => {
  const kinds = [
    { kind: "Adam" },
    { kind: "Adam", weightDecay: 0.1, amsgrad: true },
    { kind: "AdamW", weightDecay: 0.1 },
    { kind: "Adam", betas: [0.4, 0.99], maximize: true },
  ];
  for (const { kind, ...given } of kinds) {
    const { betas = [0.9, 0.999], weightDecay = 0, amsgrad = false, maximize = false } = given;
    const [beta1, beta2] = betas;
    const decoupled = kind === "AdamW";
    const fixed = { lr: 0.01, beta1, beta2, eps: 1e-8, weightDecay, decoupled, maximize };
    const actual = await onDevice("adam_step", (step, param, grad, [first, second, most]) => ({
      options: { step, ...fixed },
      ...{ count: param.count, param, grad, expAvg: first, expAvgSq: second },
      maxExpAvgSq: amsgrad ? most : undefined,
    }));
    const expected = onCpu((params) => new eg.optim[kind](params, { lr: 0.01, ...given }));
    assertClose(actual, expected, { ...kTolerance, title: JSON.stringify({ kind, ...given }) });
  }
});

test("RMSprop and Adagrad", options, async () => {
  const kinds = [{}, { momentum: 0.9, weightDecay: 0.01 }, { centered: true, alpha: 0.4 }];
  for (const kind of kinds) {
    const { momentum = 0, weightDecay = 0, centered = false, alpha = 0.99 } = kind;
    const actual = await onDevice("rmsprop_step", (_, param, grad, [square, buffer, mean]) => ({
      options: { lr: 0.01, alpha, eps: 1e-8, weightDecay, momentum, maximize: false },
      ...{ count: param.count, param, grad, squareAvg: square },
      momentumBuffer: momentum ? buffer : undefined,
      gradAvg: centered ? mean : undefined,
    }));
    const expected = onCpu((params) => new eg.optim.RMSprop(params, { lr: 0.01, ...kind }));
    assertClose(actual, expected, { relative: 1e-4, absolute: 1e-6, title: JSON.stringify(kind) });
  }
  const actual = await onDevice("adagrad_step", (_, param, grad, [sum]) => ({
    options: { lr: 0.01, eps: 1e-10, weightDecay: 0.01, maximize: false },
    ...{ count: param.count, param, grad, sum },
  }));
  const expected = onCpu((params) => new eg.optim.Adagrad(params, { lr: 0.01, weightDecay: 0.01 }));
  assertClose(actual, expected, kTolerance);
});
