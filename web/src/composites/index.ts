// The ops that are made of ops.

export { embeddingBag } from "./embedding_bag.js";
export * from "./fourier/index.js";
export * from "./images/index.js";
export { cumulativeTrapezoid, trapezoid } from "./integration.js";
export * from "./linalg/index.js";
