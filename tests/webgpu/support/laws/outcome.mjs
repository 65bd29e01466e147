// The outcome of calling an op on a device: its results and their derivatives as arrays, or its error.

import { eg } from "../../../js/support/engine.mjs";
import { callOp, comparable } from "../../../js/support/op_samples.mjs";

const isTensor = (value) => value instanceof eg.Tensor;

/** Returns the arguments with every tensor, also in lists, replaced by change(tensor). */
export function mapTensors(value, change) {
  if (Array.isArray(value)) return value.map((part) => mapTensors(part, change));
  return isTensor(value) ? change(value) : value;
}

/** Returns a leaf on a device with the values of a tensor, in the memory layout that `layout` makes. */
function placed(tensor, device, layout) {
  const leaf = layout(tensor.detach(), (packed) => packed.to(device));
  return leaf.requiresGrad_(tensor.requiresGrad);
}

/** Contiguous memory. */
export const packedLayout = (tensor, move) => move(tensor);

/** A view whose axes are in the opposite order of memory, of every second element from the second on. */
export function stridedLayout(tensor, move) {
  const { shape, ndim } = tensor;
  if (ndim === 0) return move(tensor);
  const reversed = shape.map((_, axis) => ndim - 1 - axis);
  const inner = tensor.permute(reversed).unsqueeze(-1);
  const wide = eg.cat([inner, inner], -1);
  const base = eg.cat([wide.narrow(0, 0, Math.min(1, shape.at(-1))), wide]);
  const start = Math.min(1, shape.at(-1));
  return move(base).narrow(0, start, shape.at(-1)).select(-1, 1).permute(reversed).detach();
}

/** No elements: the first axis has length 0. */
export function emptyLayout(tensor, move) {
  return move(tensor.ndim === 0 ? tensor : tensor.narrow(0, 0, 0).clone());
}

/**
 * Calls an op with the arguments `given`, whose tensors are moved to the device. Returns { arrays } of the results and of
 * derivatives up to `orders`, or the { code } of its error; `fallbacks` are the kernels that the device lacks, with their dtypes.
 */
export function outcomeOf(op, given, { device, orders = 0, layout = packedLayout }) {
  let outcome;
  const fallbacks = fallbacksDuring(() => {
    try {
      const args = mapTensors(given, (tensor) => placed(tensor, device, layout));
      outcome = { arrays: arraysOf(op, args, device, orders) };
    } catch (error) {
      if (!(error instanceof eg.EdgeGradError)) throw error;
      outcome = { code: error.code, message: error.message };
    }
  });
  return { ...outcome, fallbacks };
}

function arraysOf(op, args, device, orders) {
  const results = comparable(op, callOp(op, args).filter(isTensor));
  const tensors = args.flat(2).filter(isTensor);
  for (const result of results) {
    const isThere = tensors.length === 0 || result.device === device;
    if (!isThere) throw new Error(`${op.js}: a result is on ${result.device}, not on ${device}`);
  }
  const leaves = tensors.filter(isTracked);
  const arrays = results.map((result) => arrayOf(result, 0));
  let last = results;
  for (let order = 1; order <= orders && results.some(isTracked); order++) {
    last = derivativesOf(last.filter(isTracked), leaves, order < orders);
    arrays.push(...last.map((grad) => arrayOf(grad, order)));
  }
  return arrays;
}

const isTracked = (tensor) => tensor.requiresGrad;

// Derivatives that do not depend on the leaves, such as those of linear ops, are zeros.
function derivativesOf(tracked, leaves, createGraph) {
  if (tracked.length === 0) return leaves.map((leaf) => eg.zerosLike(leaf));
  const gradOutputs = tracked.map(weightsFor);
  return eg.autograd.grad(tracked, leaves, { gradOutputs, materializeGrads: true, createGraph });
}

// Different weights, so that no part of a gradient cancels.
function weightsFor({ shape, numel, dtype, device }) {
  return eg.linspace(0.5, 1.5, numel).reshape(shape).to({ dtype, device });
}

function arrayOf(tensor, order) {
  const { shape, dtype } = tensor;
  return { order, shape, dtype, values: tensor.detach().dataSync() };
}

const kFallback = /has no kernel '(\w+)' of ([\w, ]+) \(for (\w+)\)/;

/** Returns the kernels, with dtypes and ops, that the CPU computes for a device while `work` runs. Other warnings are printed. */
function fallbacksDuring(work) {
  const { warn } = console;
  const found = [];
  const before = eg.setWarnAlways(true);
  console.warn = (...words) => {
    const match = kFallback.exec(words.join(" "));
    if (match) found.push({ kernel: match[1], dtypes: match[2].split(", "), op: match[3] });
  };
  try {
    work();
  } finally {
    console.warn = warn;
    eg.setWarnAlways(before);
  }
  return found;
}
