// PyTorch's test files that run here. `shards` divide a file among processes. Of a file with `sample` n, every n-th test runs, chosen by
// a hash of its name; `--whole` runs all.

export const kFiles = [
  { file: "test_autograd.py", shards: 2 },
  { file: "functorch/test_eager_transforms.py", shards: 2 },
  { file: "test_view_ops.py", shards: 2, sample: 2 },
  { file: "test_reductions.py", shards: 2, sample: 10 },
  { file: "test_linalg.py", shards: 2, sample: 4 },
  { file: "test_unary_ufuncs.py", shards: 2, sample: 16 },
  { file: "test_binary_ufuncs.py", shards: 2, sample: 24 },
  { file: "test_type_promotion.py", sample: 2 },
  { file: "test_tensor_creation_ops.py", sample: 2 },
  { file: "autograd/test_functional.py" },
  { file: "autograd/test_complex.py" },
  { file: "test_indexing.py" },
  { file: "test_shape_ops.py" },
  { file: "optim/test_lrscheduler.py" },
  { file: "nn/test_module_hooks.py" },
  { file: "nn/test_init.py" },
  { file: "nn/test_dropout.py" },
  { file: "nn/test_embedding.py" },
  { file: "nn/test_multihead_attention.py" },
  { file: "nn/test_pooling.py" },
  { file: "nn/test_load_state_dict.py" },
  { file: "test_sort_and_select.py" },
  { file: "test_scatter_gather_ops.py" },
];
