// Runs the calls of the sweep in this package.

import * as eg from "edgegrad";
import { isOperand } from "./operands.mjs";

const scaled = (x, { low, high }) => x.mul(high - low).add(low);

const kOperands = {
  normal: ({ shape }) => eg.randn(shape),
  uniform: (spec) => scaled(eg.rand(spec.shape), spec),
  integer: ({ low = 0, high, shape }) => eg.randint(low, high, shape),
  bytes: ({ shape }) => eg.randint(0, 256, shape, { dtype: "uint8" }),
  bool: ({ shape }) => eg.rand(shape).lt(0.5),
  complex: ({ shape }) => eg.randn(shape, { dtype: "complex64" }),
  definite({ shape }) {
    const x = eg.randn(shape);
    return eg
      .matmul(x, x.mT)
      .div(shape.at(-1))
      .add(eg.eye(shape.at(-1)));
  },
  triangular({ shape }) {
    const side = shape.at(-1);
    return eg.randn(shape).tril().div(side).add(eg.eye(side).mul(2));
  },
  range: ({ count }) => eg.arange(count, { dtype: "float32" }),
  pivots: ({ count }) => eg.arange(1, count + 1, { dtype: "int32" }),
};

const kInexact = ["float32", "complex64"];

function made(value, leaves, isDifferentiated) {
  if (Array.isArray(value)) return value.map((one) => made(one, leaves, isDifferentiated));
  if (!isOperand(value)) return value;
  const tensor = eg.scope(() => kOperands[value.kind](value));
  if (isDifferentiated && kInexact.includes(tensor.dtype)) leaves.push(tensor.requiresGrad_());
  return tensor;
}

function functionOf(name) {
  return name.split(".").reduce((place, part) => place?.[part], eg);
}

function callOf({ call, args, options, views, isList }, isDifferentiated) {
  const leaves = [];
  const given = args.map((arg) => made(arg, leaves, isDifferentiated));
  for (const i of views) given[i] = given[i].t();
  if (Object.keys(options).length > 0) given.push(options);
  const run = functionOf(call);
  return { run: isList ? () => run(given) : () => run(...given), leaves };
}

/** Returns the tensors in a result: a single one, a list, or an object of them. */
function tensorsIn(result) {
  if (result instanceof eg.Tensor) return [result];
  return typeof result === "object" && result !== null
    ? Object.values(result).flatMap((one) => tensorsIn(one))
    : [];
}

const firstDifferentiable = (result) => tensorsIn(result).find((one) => one.requiresGrad);

/** Returns the functions to time, { forward, both }; `both` is null if there is nothing to differentiate. */
export function prepare(case_) {
  const { run } = callOf(case_, false);
  const forward = () => eg.noGrad(() => eg.scope(() => void run()));
  if (case_.isForwardOnly) return { forward, both: null };
  return { forward, both: withGradient(case_) };
}

function withGradient(case_) {
  const { run, leaves } = callOf(case_, true);
  // An in-place op cannot write into a leaf.
  if (leaves.length === 0 || case_.call.endsWith("_")) return null;
  const ones = eg.scope(() => {
    const sample = firstDifferentiable(run());
    return sample ? eg.onesLike(sample.detach()) : null;
  });
  if (ones === null) return null;
  const options = { gradOutputs: [ones], allowUnused: true };
  return () => eg.scope(() => void eg.autograd.grad([firstDifferentiable(run())], leaves, options));
}
