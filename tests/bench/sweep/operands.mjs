// What the calls of a sweep are made of, as plain data that both libraries read: JSON is all that PyTorch's process gets.

/** Normal numbers. */
export const N = (...shape) => ({ kind: "normal", shape });
/** Numbers between two others. */
export const U = (low, high, ...shape) => ({ kind: "uniform", low, high, shape });
/** Whole numbers from 0 up to another, int64. */
export const I = (high, ...shape) => ({ kind: "integer", high, shape });
/** Truth values. */
export const B = (...shape) => ({ kind: "bool", shape });
/** Complex numbers whose parts are normal. */
export const C = (...shape) => ({ kind: "complex", shape });
/** Symmetric positive definite matrices, well conditioned. */
export const S = (...shape) => ({ kind: "definite", shape });
/** Lower triangular matrices, well conditioned. */
export const L = (...shape) => ({ kind: "triangular", shape });
/** The numbers from 0 on, float32. */
export const A = (count) => ({ kind: "range", count });

/** True for what stands for a tensor. */
export const isOperand = (value) => typeof value?.kind === "string";
