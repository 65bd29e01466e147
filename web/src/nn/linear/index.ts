export { Bilinear } from "./bilinear.js";
export {
  CosineSimilarity,
  type CosineSimilarityOptions,
  PairwiseDistance,
  type PairwiseDistanceOptions,
} from "./distances.js";
export { Embedding, type EmbeddingOptions, type FromPretrainedOptions } from "./embedding.js";
export {
  type BagFromPretrainedOptions,
  type BagMode,
  EmbeddingBag,
  type EmbeddingBagCall,
  type EmbeddingBagOptions,
} from "./embedding_bag.js";
export { Linear, type LinearOptions } from "./linear.js";
