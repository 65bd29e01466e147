// The operands of calls in a sweep, as plain data that both libraries can read: PyTorch's process receives only JSON.

/** Normally distributed numbers. */
export const N = (...shape) => ({ kind: "normal", shape });
/** Uniformly distributed numbers. */
export const U = (low, high, ...shape) => ({ kind: "uniform", low, high, shape });
/** Integers from 0 to less than `high`, int64. */
export const I = (high, ...shape) => ({ kind: "integer", high, shape });
/** Booleans. */
export const B = (...shape) => ({ kind: "bool", shape });
/** Random bytes, uint8. */
export const Q = (...shape) => ({ kind: "bytes", shape });
/** Complex numbers with normally distributed parts. */
export const C = (...shape) => ({ kind: "complex", shape });
/** Symmetric positive definite matrices, well conditioned. */
export const S = (...shape) => ({ kind: "definite", shape });
/** Lower triangular matrices, well conditioned. */
export const L = (...shape) => ({ kind: "triangular", shape });
/** The numbers 0, 1, 2, ..., float32. */
export const A = (count) => ({ kind: "range", count });

/** Returns whether a value describes a tensor. */
export const isOperand = (value) => typeof value?.kind === "string";
