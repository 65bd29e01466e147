// This package, used only through its public API.

import * as eg from "edgegrad";
import { preferSoftwareAdapter } from "../../webgpu/support/software_adapter.mjs";
import { bestTime } from "../clock.mjs";
import { opOf } from "../layers/edgegrad.mjs";
import { inputsOf, start, startTrainer, trainingStep } from "../trainers/edgegrad.mjs";

let device = "cpu"; // the device to train on

export async function load({ threads = 1, device: wanted = "cpu" } = {}) {
  device = wanted;
  if (device === "webgpu") preferSoftwareAdapter();
  await eg.init({ threads, webgpu: device === "webgpu" ? "required" : "off" });
  const { variant, threads: started, webgpu } = eg.runtime();
  const detail = `${variant}, ${started} thread${started === 1 ? "" : "s"}${webgpu ? `, ${webgpu.description}` : ""}`;
  return {
    detail,
    variant,
    product,
    convolution,
    attention,
    chain,
    compiledChain,
    trainer,
    plainStep,
    deviceProduct,
    timeOf: (op, sizes, isWithBackward, ms) => bestTime(opOf(op, sizes, isWithBackward), ms),
  };
}

function product(layout, { m, k, n }, a, b) {
  const matrix = (numbers, rows, columns, isTransposed) =>
    isTransposed
      ? eg.tensor(numbers).view([columns, rows]).t()
      : eg.tensor(numbers).view([rows, columns]);
  const x = matrix(a, m, k, layout[0] === "T");
  const y = matrix(b, k, n, layout[1] === "T");
  return () => eg.matmul(x, y).dispose();
}

/** Repeatedly multiplies two square matrices on the device; `read` returns the last product. */
function deviceProduct(n, a, b) {
  const [x, y] = [a, b].map((numbers) => eg.tensor(numbers).view([n, n]).to(device));
  let result = null;
  return {
    multiply() {
      result?.dispose();
      result = eg.matmul(x, y);
    },
    read: () => result.data(),
  };
}

const random = (...shape) => eg.rand(shape).sub(0.5);

/** Repeatedly runs backward through `y` for some of its inputs. */
function gradientOf(y, inputs) {
  const gradOutputs = [random(...y.shape)];
  return () => {
    const options = { gradOutputs, retainGraph: true };
    for (const gradient of eg.autograd.grad([y], inputs, options)) gradient.dispose();
  };
}

/** The forward pass and the two gradients of a convolution, each of `operations` multiplications and additions. */
function convolution({ batch, inputs, size, outputs, kernel }) {
  const x = random(batch, inputs, size, size).requiresGrad_();
  const weight = random(outputs, inputs, kernel, kernel).requiresGrad_();
  const y = eg.conv2d(x, weight);
  const operations = 2 * y.numel * inputs * kernel * kernel;
  const forward = () => eg.noGrad(() => eg.conv2d(x, weight).dispose());
  return [
    { part: "forward", operations, run: forward },
    { part: "input gradient", operations, run: gradientOf(y, [x]) },
    { part: "weight gradient", operations, run: gradientOf(y, [weight]) },
  ];
}

/** The forward pass of attention, which is two matrix products, and the backward pass, which is five because the scores are recomputed. */
function attention({ batch, heads, length, width, isCausal }) {
  const inputs = [1, 2, 3].map(() => random(batch, heads, length, width).requiresGrad_());
  const attend = () => eg.scaledDotProductAttention(...inputs, { isCausal });
  const pairs = isCausal ? (length * (length + 1)) / 2 : length * length;
  const product = 2 * batch * heads * pairs * width;
  return [
    { part: "forward", operations: 2 * product, run: () => eg.noGrad(() => attend().dispose()) },
    { part: "backward", operations: 5 * product, run: gradientOf(attend(), inputs) },
  ];
}

async function chain(length) {
  const x = eg.tensor([1, 2, 3, 4], { requiresGrad: true });
  const factor = eg.tensor([1.0001, 0.9999, 1.0001, 0.9999]);
  const ones = eg.ones([4]);
  const times = { start: performance.now() };
  let y = x;
  for (let i = 0; i < length; ++i) y = y.mul(factor);
  times.recorded = performance.now();
  y.backward(ones);
  times.end = performance.now();
  return times;
}

/** The chain of operations as a captured step. */
async function compiledChain(length) {
  // A recorded kernel call takes half a kilobyte.
  if (length > 100_000) throw new Error("not run: it would not fit into memory");
  const factor = eg.tensor([1.0001, 0.9999, 1.0001, 0.9999]);
  const ones = eg.ones([4]);
  const x = eg.tensor([1, 2, 3, 4]);
  const captured = eg.capture((input) => {
    let y = input.requiresGrad_();
    for (let i = 0; i < length; ++i) y = y.mul(factor);
    return eg.autograd.grad([y], [input], { gradOutputs: [ones] });
  }, x);
  return async () => {
    const [gradient] = captured(x);
    await gradient.data();
    gradient.dispose();
  };
}

const trainer = (task, batches) => startTrainer(device, task, batches);

/** A step as a new user would write it: without dispose() and without a scope. */
function plainStep(task) {
  const training = start(device, task);
  return {
    step: (batch) => trainingStep(training, inputsOf(device, task, batch)),
    read: (loss) => loss.itemAsync(),
    memory: () => ({ tensors: eg.memory().tensors, bytes: eg.memory().cpuBytes }),
  };
}
