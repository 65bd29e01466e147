// eg.data: datasets, samplers and data loaders.

export { defaultCollate } from "./collate.js";
export type { Collated } from "./collated.js";
export { DataLoader } from "./data_loader.js";
export type { DataLoaderOptions } from "./data_loader_options.js";
export { type Dataset, type IterableDataset, TensorDataset } from "./dataset.js";
export { idx } from "./idx.js";
export type { Numbers } from "./numbers.js";
export {
  BatchSampler,
  RandomSampler,
  type RandomSamplerOptions,
  type Sampler,
  SequentialSampler,
  type Sized,
  SubsetRandomSampler,
  type SubsetRandomSamplerOptions,
  WeightedRandomSampler,
  type WeightedRandomSamplerOptions,
} from "./sampler.js";
export { ConcatDataset, randomSplit, Subset } from "./subset.js";
