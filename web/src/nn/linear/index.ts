export { Bilinear } from "./bilinear.js";
export {
  CosineSimilarity,
  type CosineSimilarityOptions,
  PairwiseDistance,
  type PairwiseDistanceOptions,
} from "./distances.js";
export { Embedding, type EmbeddingOptions, type FromPretrainedOptions } from "./embedding.js";
export { Linear, type LinearOptions } from "./linear.js";
