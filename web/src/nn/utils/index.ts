// nn.utils: what is done to all parameters of a model.

export { type ClipGradNormOptions, clipGradNorm_, clipGradValue_ } from "./clip_grad.js";
export * as rnn from "./rnn/index.js";
