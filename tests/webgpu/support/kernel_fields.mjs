// The fields of kernels that many tests call.

export const rows = ([outer, size, inner]) => ({ outer, size, inner });

/** The fields of `elementwise`: a formula over operands, given as [view, strides]; the first one is written. */
export function elementwise(
  { op, form, gradientOf, constants, compute = "float32", result = compute, shape },
  operands,
) {
  return {
    formula: { op, form, gradientOf, constants },
    compute,
    result,
    shape,
    operands: operands.map(([view, strides]) => ({ view, strides })),
  };
}

/** Copies bytes between the blocks of two views; the offsets are relative to the blocks. */
export function copyBytes(p, to, toOffset, from, fromOffset, bytes) {
  p.kernel("copy", {
    shape: [bytes],
    to: { block: to.block, offset: toOffset, dtype: "uint8" },
    toStrides: [1],
    from: { block: from.block, offset: fromOffset, dtype: "uint8" },
    fromStrides: [1],
  });
}
