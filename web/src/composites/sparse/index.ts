// eg.sparse: torch.sparse's functions.

export { addmm, mm, sampledAddmm } from "./products.js";
export { logSoftmax, softmax } from "./softmax.js";
export { sum } from "./sum.js";
