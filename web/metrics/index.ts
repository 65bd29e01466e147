// edgegrad/metrics: how good a model is on data that it was not trained on. Results are tensors on the device of their inputs, so nothing
// waits for a GPU before a number is read.

export { type AccuracyOptions, accuracy } from "./accuracy.js";
export { ConfusionMatrix, type MetricOptions } from "./confusion_matrix.js";
export { type PerplexityOptions, perplexity } from "./perplexity.js";
export { r2Score } from "./r2_score.js";
export { rocAuc } from "./roc_auc.js";
