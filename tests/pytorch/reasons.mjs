// Why a test does not pass: the vocabulary of the files in expected/, and the rules by which `--write` chooses a reason for a test that
// is new there. The rules see "TEST | LINE OF THE TEST | ERROR"; the first that matches counts. A reason written by hand stays.

export const kUnclassified = "unclassified";

const kRules = [
  // What edgegrad does wrong; each has been looked at.
  ["fault: a post hook of AccumulateGrad gets a copy of the gradient", /post_accumulate_grad_hook_ordering/],

  // What the messages say is missing.
  ["missing: dtypes", /missing: dtype |expected one of .* got "(u?int(8|16|32|64)|complex32|float8\w*|q\w+)"/],
  ["missing: sparse tensors", /sparse|to_dense|crow_indices|coalesce|sspaddmm|_mkldnn/],
  ["missing: storages and resizing", /missing: (storages|set_|resize_|Tensor\.(as_strided_|resize_as_|resize)|torch\.(Storage|\w*Storage)|x\.data)|has no len\(\)/],
  ["missing: view(dtype)", /\[view\] shape: expected a whole number, got "/],
  ["missing: checkpoint options", /missing: (checkpoint|reentrant)|set_checkpoint_early_stop|checkpoint_sequential|selective_checkpoint|torch\.utils\.checkpoint\./],
  ["missing: allow_mutation_on_saved_tensors", /allow_mutation/],
  ["missing: forward mode of custom Functions", /does not support a custom Function|Function\.jvp/],
  ["missing: module hooks that edgegrad lacks", /full_backward_pre_hook|register_module_|alwaysCall|state_dict_(pre|post)?_?hook|state_dict_hook|load_state_dict_p/],
  ["missing: arguments of state_dict", /missing: arguments of state_dict/],
  ["missing: torch.save and pickle", /torch\.(save|load)|pickle|serialization/],
  ["missing: named tensors", /named tensors|refine_names|names=/],
  ["missing: learning rates as tensors", /lr: expected a number, got an object of class Tensor/],
  ["missing: complex numbers as arguments", /(fillValue|alpha|beta|value|start|end|weight|steps): expected a (real )?number, got an object of class Object|expected a real/],
  ["missing: functions of matrices", /missing: torch\.(_?linalg\w*|linalg|lobpcg|geqrf|ormqr|orgqr|triangular_solve|symeig|lu_unpack|cholesky\w*|ldl\w*|\w*_ex|_addmm\w*|_convert\w*)|missing: (torch\.)?linalg/],
  ["missing: functorch's older functions", /make_functional|combine_state|functionalize|make_fx|functorch/],
  ["missing: copies of views", /_copy\b|unsafe_split/],
  ["missing: foreach functions", /_foreach/],
  ["missing: lazy modules", /Lazy/],
  ["missing: options of gradients", /sparseGrad|preallocateAndCopy|preallocate_and_copy/],
  ["missing: printing options", /printoptions/],

  // What does not apply.
  ["n/a: internals of PyTorch", /torch\._C|torch\.ops|torch\._dynamo|torch\._inductor|torch\.library|_calculate_shape|torch\.compile|_C\._|SavedTensor|input_metadata|_backward_cls|HigherOrderOperator|torch\.fx|torch\._\w+/],
  ["n/a: other parts of PyTorch", /torch\.(jit|autograd\.profiler|profiler|distributed|multiprocessing|package|export|onnx|nested|quantization|ao|autograd\.set_multithreading_enabled|nn\.DataParallel|quantize_\w+|utils\.(data|cpp_extension|flop_counter|_python_dispatch)|testing)\b|subprocess|missing: profile/],
  ["n/a: Python's protocols", /__torch_function__|torch_function|torch_dispatch|subclass|as_subclass|n\/a: (pickle|subclasses|memory formats)|MyMode|__dict__/],
  ["n/a: memory that Python and tensors share", /share memory|numpy|from_numpy|__array|dlpack|data_ptr|buffer/],
  ["n/a: Python's reference counts", /ref\(\)|is not None$|unexpectedly None|_cycle|cleaned_up|no_leak|_leak\b|destruct/],
  ["n/a: conjugate and negative bits", /conj_bit|neg_bit|is_conj|is_neg|conj_view|conj_imag|_conj|_neg_view|resolve_/],
  ["n/a: memory formats", /memory_format|channels_last/],
  ["n/a: texts", /Regex didn't match|String comparison failed|repr\(|str\(|assertExpected|test_print/],
  ["n/a: deprecated", /deprecat|DeprecationWarning|FutureWarning|register_backward_hook|legacy/i],
  ["n/a: numbers of Python that JavaScript does not tell apart", /index_no_floats|\[0\.0|float_index|only contain ints|numpy_float/],

  // Warnings that edgegrad does not give, errors that it does not throw.
  ["missing: warnings", /not triggered|len\(w|\bw\[|_warns|warning/i],
];

/** Returns the reason for the outcome of a test that did not pass. */
export function reasonFor({ test, at = "", reason = "" }) {
  const text = `${test} | ${at} | ${reason}`.replaceAll("\n", " ");
  return kRules.find(([, pattern]) => pattern.test(text))?.[0] ?? kUnclassified;
}
