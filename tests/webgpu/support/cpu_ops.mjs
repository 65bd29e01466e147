// The same ops on the CPU, called through the package.

import { eg } from "../../js/support/engine.mjs";
import { opTable } from "../../js/support/op_samples.mjs";

// Formulas that are not ops themselves: the elements of losses, a rounding mode, and ops that declare more about their arguments.
const kParts = {
  squared_error: (x, t) => eg.mseLoss(x, t, "none"),
  absolute_error: (x, t) => eg.l1Loss(x, t, "none"),
  smooth_absolute_error: (x, t, beta) => eg.smoothL1Loss(x, t, "none", beta),
  huber_error: (x, t, delta) => eg.huberLoss(x, t, "none", delta),
  binary_cross_entropy_error: (x, t) => eg.binaryCrossEntropy(x, t, null, "none"),
  binary_cross_entropy_with_logits_error: (x, t, w) =>
    eg.binaryCrossEntropyWithLogits(x, t, null, "none", w),
  kl_error: (x, t) => eg.klDiv(x, t, "none", false),
  kl_error_of_log: (x, t) => eg.klDiv(x, t, "none", true),
  prelu: (x, weight) => eg.prelu(x.reshape([1, -1]), weight).reshape([-1]),
  threshold: (x, threshold, value) => eg.threshold(x, threshold, value),
  trunc_divide: (a, b) => eg.div(a, b, { roundingMode: "trunc" }),
};
const kLossDomains = {
  binary_cross_entropy_error: [
    [0, 1],
    [0, 1],
  ],
};

/** Returns the `domains` of an op in the op table, and which of its operands are masks. */
export function describe(name, operands) {
  const op = opTable.find((one) => one.name === name && one.kind === "elementwise");
  const domains =
    op?.domains ?? kLossDomains[name] ?? Array.from({ length: operands }, () => [-2, 2]);
  const names = op?.args.map((arg) => arg.name) ?? [];
  return { domains, isMask: domains.map((_, i) => ["condition", "mask"].includes(names[i])), op };
}

/** Returns the op as a function of tensors and numbers. */
export function functionOf(name, op) {
  if (kParts[name]) return kParts[name];
  return (...args) => {
    const choices = op.args.map((arg) => arg.choices);
    return eg[op.js](...args.map((arg, i) => (choices[i] ? choices[i][arg] : arg)));
  };
}

/** Returns the value of an op, and the gradients of `inputs` if there are any. */
export function evaluate(call, columns, { isMask, params, dtype = "float32", inputs = [], g }) {
  const tensors = columns.map((data, i) =>
    eg.tensor(isMask[i] || dtype === "uint8" ? Uint8Array.from(data, Number) : data, {
      shape: [data.length],
      dtype: isMask[i] ? "bool" : dtype,
      requiresGrad: inputs.includes(i),
    }),
  );
  const y = call(...tensors, ...params);
  const value = Array.from(y.dataSync(), (x) => (typeof x === "bigint" ? x : Number(x)));
  if (inputs.length === 0) return { value };
  const gradOutputs = eg.tensor(g, { shape: [g.length], dtype });
  const found = eg.autograd.grad(
    y,
    inputs.map((i) => tensors[i]),
    { gradOutputs, allowUnused: true },
  );
  return { value, gradients: found.map((tensor) => tensor && Array.from(tensor.dataSync())) };
}
