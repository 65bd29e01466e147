// nn.utils: functions for all parameters of a model, or for one.

export {
  type ClipGradNormOptions,
  clipGradNorm_,
  clipGradsWithNorm_,
  clipGradValue_,
  getTotalNorm,
} from "./clip_grad.js";
export {
  fuseConvBnEval,
  fuseConvBnWeights,
  fuseLinearBnEval,
  fuseLinearBnWeights,
} from "./fusion.js";
export type { SpectralNormOptions, WeightNormOptions } from "./norm_options.js";
export * as parametrizations from "./parametrizations.js";
export * as parametrize from "./parametrize.js";
export * as prune from "./prune/index.js";
export * as rnn from "./rnn/index.js";
export { removeSpectralNorm, spectralNorm } from "./spectral_norm.js";
export { parametersToVector, vectorToParameters } from "./vector.js";
export { removeWeightNorm, weightNorm } from "./weight_norm.js";
