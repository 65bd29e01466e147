// The draws that the engine makes, in one place.

export { sampleDirichlet, standardGamma } from "../generated/internal.js";
export { binomial, multinomial, poisson } from "../generated/ops.js";
