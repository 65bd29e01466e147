// PyTorch's test files that run here, in the order of their length. `shards` divide a file among processes. Of a file with `sample` n,
// every n-th test runs, chosen by a hash of its name; `--whole` runs all.

export const kFiles = [
  { file: "test_indexing.py" },
];
