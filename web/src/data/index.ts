// eg.data: datasets and their batches.

export { DataLoader, type DataLoaderOptions } from "./data_loader.js";
export { type Dataset, TensorDataset } from "./dataset.js";
export { idx } from "./idx.js";
