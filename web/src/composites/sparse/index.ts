// eg.sparse: torch.sparse's functions.

export { addmm, mm, sampledAddmm } from "./products.js";
export { logSoftmax, softmax } from "./softmax.js";
export { spdiags } from "./spdiags.js";
export { spsolve } from "./spsolve.js";
export { sum } from "./sum.js";
