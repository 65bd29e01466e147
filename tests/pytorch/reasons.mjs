// Why a test does not pass: the vocabulary of the files in expected/, and the rules by which `--write` chooses a reason for a test that
// is new there. The rules see "TEST | LINE OF THE TEST | ERROR | emulated NAMES"; the first that matches counts. A reason written by hand stays.

export const kUnclassified = "unclassified";
const kSharedMemory = "n/a: memory that Python and tensors share";

const kRules = [
  ["n/a: Python's reference counts", /post_accumulate_grad_hook_ordering/],

  ["n/a: internals of PyTorch", /materialize_non_diff_grads|_int_mm|int8_mm/],
  [
    "n/a: edgegrad refuses what PyTorch ignores",
    /module is a part of itself|has no parameter or buffer "extra"|paramsAndBuffers.*got null|tie_weights_strict/,
  ],
  ["n/a: other parts of PyTorch", /torch\.jit|quantize_per_tensor/],
  ["n/a: deprecated", /private_stateless_warns/],
  ["shim: dictionaries that a function changes", /TestStatelessFunctionalAPI\.test_setattr/],
  ["shim: classes defined in Python", /functional_call_member_reference/],
  ["shim: datasets", /missing: torch\.utils\.data/],
  ["missing: gradFn.savedTensors of Functions", /custom_function_saved_tensors/],
  ["n/a: the order of eigenvalues", /eigvals_numpy/],
  [
    "n/a: last bits",
    /scatter_reduce_prod_cpu_complex|scatter__reductions_cpu_complex|test_embedding_max_norm \|/,
  ],
  ["n/a: operators of NumPy", /numpy_array_binary_ufunc_promotion/],
  ["n/a: PyTorch's known faults", /inplace_views_cross_dtype/],
  [
    "n/a: which nodes and saved tensors a formula has",
    /prehooks_multiple_outputs|saved_tensors_hooks_double_backward|hook_relative_ordering|node_isinstance|test_graph_save_on_cpu/,
  ],
  ["n/a: PyTorch's deprecated default of cross", /test_cross_cpu.*dimension -1/],

  // A test that is parametrized with such a layout says so in its name; any other fails where it asks for one.
  [
    "n/a: layouts that edgegrad decided against: CSC, BSR and BSC",
    /^\S+_Sparse(CSC|BSR|BSC)_|n\/a: layouts that edgegrad decided against|layout=sparse_(csc|bsr|bsc)/,
  ],

  // What edgegrad decided for sparse tensors.
  [
    "n/a: the gradient of a sparse tensor has its positions",
    /TestSparse\S*_sum_\S* \| .*a\.grad, |_reductions_backward_sum_\S* \| .*t_inp\.grad, |TestSparse\S*_fn_grad_/,
  ],
  [
    "n/a: indices of sparse tensors are int64, checked and copied",
    /SparseCSR_SparseCSR_int32_|check_sparse_tensor_invariants|test_factory_copy_cpu|sparseCooTensor. indices: expected int64/,
  ],
  [
    "n/a: when sparse tensors are coalesced",
    /test_add_zeros_cpu|test_sparse_dense_mul_cpu_bool|TestSparseCPU\.test_clone_|TestSparse\S*_log1p_cpu|permute_\w+_cpu\S* \| .*is_coalesced/,
  ],
  [
    "n/a: functions that edgegrad decided against: hspmm, hsmm, saddmm and sspaddmm",
    /torch\.(hsmm|hspmm|saddmm)|sspaddmm/,
  ],
  ["n/a: memory formats", /memory format option is only supported by strided/],
  ["shim: x.data", /test_softmax_cpu_float64 .*SoftmaxBackward0/],
  ["n/a: other parts of PyTorch", /torch\.utils\.data\.DataLoader/],
  ["n/a: deprecated", /TestSparseCPU\.test_new_cpu/],
  ["n/a: texts", /TestSparseCPU\.test_print/],
  ["n/a: which nodes and saved tensors a formula has", /test_graph_save_on_cpu \|/],
  ["missing: device meta", /got "meta"/],
  ["missing: storages and resizing", /Tensor\.resize_as_/],

  // A test of out= that its copy in the shim does not pass.
  ["n/a: out=", /\| emulated .*out=/],

  // What edgegrad allows, or refuses, otherwise than PyTorch; each has been read.
  [
    "n/a: edgegrad computes what PyTorch refuses",
    /err_check_strict_vectorize|function_returns_input_inner|no_setup_context_transform|functional_jacrev_inside_transform|(requires|retain)_grad_inside_transform|support_saved_tensor_hooks|Expected tensors, got unsupported type|empty_output_jac|chunksize_one__|with_autograd_function_transform_vjp|integer_in_dim_but_not_tensor|per_sample_weights_failures|MaxPool3d_indices|FractionalMaxPool\dd_zero_batch|adaptive_pooling_(empty_output|no_suppot)|AdaptiveMaxPool_zero_batch_dim|prod_gradgrad_error|take_along_dim_invalid|TestCommonCPU\.test_errors_|half_and_bfloat16_errors|expected 'derivative for|forward AD with .* that does not support it/,
  ],
  [
    "n/a: edgegrad refuses what PyTorch warns of",
    /expected distinct parameters|nonsupported_dtypes/,
  ],
  ["n/a: a tangent of zeros may be none", /unpack_dual\(dual_out\).tangent/],
  [
    "n/a: Python's reference counts",
    /node_names\)|no_grad_copy|naughty_autograd_function_stashing_ctx/,
  ],
  ["n/a: last bits", /wishart_properties|relaxed_one_hot_categorical_2d/],
  ["shim: functions as methods", /eager_rand_like/],
  ["n/a: assign shares data, and does not take the object", /load_state_dict_assign_meta/],
  ["n/a: PyTorch's known faults", /unique_dim_cpu|conv_empty_channel/],
  [
    "shim: lists and tuples",
    /vjp_aux_tensor|vjp_pytree_error|inputs_are_tuples_of_tensors|aux_tensor_cpu|outputs_can_any_pytree|incompatible_out_dims_error/,
  ],
  [
    "n/a: numbers of Python that JavaScript does not tell apart",
    /invalid_argnums_cpu|float_argnums_jac/,
  ],
  [
    "n/a: internals of PyTorch",
    /functionalize|make_fx|policy_with_state|FakeTensor|gradcheck_get_|_cdata/,
  ],
  ["n/a: texts", /create_graph_warns|gradcheck_undefined_grad|bw_hook_warning_for_non_tensor/],
  ["n/a: PyTorch's default of reentrant checkpoints", /warns_if_use_reentrant_not_passed/],
  ["n/a: deprecated", /num_warnings\)|verbose_deprecation|triangular_solve|F\.log_softmax\(x\)/],
  [
    "n/a: attributes of PyTorch's modules",
    /'training'|_metadata\b|_hooks_always_called|_hooks_with_kwargs|hooks_dict_ref/,
  ],
  [
    "shim: the state of optimizers",
    /optim\.state\[|state_dict\["(state|ran_)|og_p_state|TestOptim.*KeyError/,
  ],
  ["missing: differentiable optimizers", /expected leaves, got a non-leaf tensor/],
  [
    "missing: forward AD inside vmap",
    /that differ by sample.*check_batched_forward_grad|cannot update runningMean.*check_batched_forward_grad|no rule for vmap.*check_batched_forward_grad|maskedSelect.*check_batched_forward_grad/,
  ],
  ["missing: learning rates as tensors", /lr: expected a number, got an object of class Tensor/],
  ["missing: sparse tensors", /SparseAdam/],
  ["n/a: a promise inside of a function that JavaScript calls", /n\/a: a promise inside/],
  ["n/a: Python's protocols", /swapping the contents|n\/a: pickle|pickle\.|PicklingError/],
  [
    "n/a: internals of PyTorch",
    /torch\._functorch|_C\._functorch|torch\._addmm|torch\._convert|_fwd_grad_enabled|_force_original_view|_functions\.Resize|_Dirichlet_backward|lazy_property|TestLazyLogitsInitialization|_masked_softmax|_reduction_identity|_maybe_remove_out|_unsafe_masked|Numpy\w+CustomOp|register_module_backward_hook|_from_public_api|post_hook_private_True|batch_norm_update_stats/,
  ],
  ["shim: lists and tuples", /isinstance\(out, ToyNamedTuple/],
  ["n/a: other parts of PyTorch", /'resnet18'|from_file|share_memory\(\)/],
  ["n/a: texts", /anomaly_grad_warnings/],
  ["n/a: edgegrad computes what PyTorch refuses", /non_promoting_ops_cpu/],
  [
    "n/a: numbers of Python that JavaScript does not tell apart",
    /test_booleans_cpu|narrow_tensor_cpu/,
  ],
  [
    "n/a: errors of another class",
    /transformer_args_check|orthogonal_parametrization_swap_False|zero_out_size|pooling_zero_stride/,
  ],
  ["n/a: Python's reference counts", /ctx\.cloned/],
  [kSharedMemory, /(alias|copy)_from_buffer/],
  [
    "n/a: Python's protocols",
    /operand type\(s\) for|does not support the context manager|_make_wrapper_subclass|MyMode/,
  ],
  ["missing: functions", /generate_square|'insert'|load_nested|extra_state/],
  ["n/a: assignments, of which JavaScript tells nobody", /_registration_hook/],
  ["n/a: a batch has its dimension in front inside of vmap", /test_in_dims_single_input/],
  ["n/a: Python's protocols", /test_kwarg_only_tensors/],
  ["missing: more than 64 dimensions", /at most 64 dimensions/],
  ["n/a: conjugate and negative bits", /_neg_view|_conj_view/],
  ["n/a: deprecated", /upsample_nearest|torch\.range|chain_matmul|baddbmm_?\] batch1/],
  ["n/a: PyTorch's known faults", /\[GRUCell\] bias: expected true or false/],
  ["n/a: numbers of Python that JavaScript does not tell apart", /expected size to be one of int/],
  ["missing: device meta", /is_meta|device_ctx_init/],
  ["n/a: PyTorch's known faults", /test_transformerencoderlayer_cpu/],
  [
    "n/a: internals of PyTorch",
    /'compute_mask'|_validate_pruning_amount|_compute_nparams|_flat_weights|_categorical|_segment_reduce|module 'torch.masked' has no|masked\._(in|out)put_mask/,
  ],
  [
    "shim: classes defined in Python",
    /Dist\.support|test_squeeze|type_before_parametrizations|delattr\(model, "bias"\)|__class__, parametrize|initial_weight_id|'is_floating_point'|test_pruning_id_consistency|has no len\(\)/,
  ],
  ["n/a: Python's protocols", /\.output\.size|not JSON serializable|PicklingError/],
  ["n/a: internals of PyTorch", /n\/a: Module\._/],
  ["n/a: errors of another class", /test_invalid_conv|'KeyError'> not raised/],

  // Whole subjects, by the names of tests.
  ["n/a: internals of PyTorch", /CompositeComplian|TestTags|TestFakeTensor/],
  ["missing: dtypes", /The supported dtypes for \S+ on device type cpu are incorrect/],
  ["missing: masked reductions", /torch\.masked|_masked_\w+_cpu/],
  ["n/a: PyTorch's references in Python", /__refs_|torch\._(refs|prims)/],
  ["missing: variants of gradcheck", /missing: gradcheck|torch\.autograd\.gradcheck\./],
  ["n/a: profilers", /profiler|record_function|EventList|emit_(itt|nvtx)/],
  ["shim: modes on classes", /grad_mode_class_decoration/],
  ["n/a: generators in modes", /coroutine|generator/],
  [
    "missing: Functions with keywords, trees and default arguments",
    /unexpected keyword argument|in_dims_(multiple|single)|forward_has_default/,
  ],

  // What the messages say is missing.
  [
    "missing: dtypes",
    /missing: dtype |expected one of .* got "(u?int(8|16|32|64)|complex32|float8\w*|q\w+)"/,
  ],
  ["missing: sparse tensors", /sparse|to_dense|crow_indices|coalesce|sspaddmm|_mkldnn|layout=/],
  [
    "missing: storages and resizing",
    /missing: (storages|set_|resize_|Tensor\.(as_strided_|resize_as_|resize)|torch\.(Storage|\w*Storage)|x\.data)|has no len\(\)/,
  ],
  ["n/a: memory of bool is read as bool only", /\[view\] memory of bool/],
  ["shim: addresses", /assertEqual\(a\.data_ptr\(\), a_view\.data_ptr\(\)\)/],
  [
    "missing: checkpoint options",
    /missing: (checkpoint|reentrant)|set_checkpoint_early_stop|checkpoint_sequential|selective_checkpoint|torch\.utils\.checkpoint\./,
  ],
  ["missing: allow_mutation_on_saved_tensors", /allow_mutation/],
  ["missing: forward mode of custom Functions", /does not support a custom Function|Function\.jvp/],
  [
    "missing: module hooks that edgegrad lacks",
    /full_backward_pre_hook|register_module_|alwaysCall|state_dict_(pre|post)?_?hook|state_dict_hook|load_state_dict_p/,
  ],
  ["missing: arguments of state_dict", /missing: arguments of state_dict/],
  ["missing: named tensors", /named tensors|refine_names|names=/],
  ["missing: learning rates as tensors", /lr: expected a number, got an object of class Tensor/],
  [
    "missing: complex numbers as arguments",
    /(fillValue|alpha|beta|value|start|end|weight|steps): expected a (real )?number, got an object of class Object|expected a real/,
  ],
  [
    "missing: functions of matrices",
    /missing: torch\.(_?linalg\w*|linalg|lobpcg|geqrf|ormqr|orgqr|triangular_solve|symeig|lu_unpack|cholesky\w*|ldl\w*|\w*_ex|_addmm\w*|_convert\w*)|missing: (torch\.)?linalg/,
  ],
  [
    "missing: functorch's older functions",
    /make_functional|combine_state|functionalize|make_fx|functorch/,
  ],
  ["n/a: copies of views, which PyTorch's compiler calls", /torch\.\w+_copy\b|unsafe_split/],
  ["missing: foreach functions", /_foreach/],
  ["missing: options of gradients", /sparseGrad|preallocateAndCopy|preallocate_and_copy/],
  ["missing: printing options", /printoptions/],

  // What does not apply.
  [
    "n/a: internals of PyTorch",
    /torch\._C|__future__|torch\.ops|torch\._dynamo|torch\._inductor|torch\.library|_calculate_shape|torch\.compile|_C\._|SavedTensor|input_metadata|_backward_cls|HigherOrderOperator|torch\.fx|torch\._\w+|_set_sequence_nr/,
  ],
  [
    "n/a: other parts of PyTorch",
    /torch\.(jit|autograd\.profiler|profiler|distributed|multiprocessing|package|export|onnx|nested|quantization|ao|autograd\.set_multithreading_enabled|nn\.DataParallel|quantize_\w+|utils\.(data|cpp_extension|flop_counter|_python_dispatch)|testing)\b|subprocess|missing: profile/,
  ],
  [
    "n/a: Python's protocols",
    /swapping the contents|named_tuple|_hooks_with_kwargs|__torch_function__|torch_function|torch_dispatch|subclass|as_subclass|n\/a: (pickle|subclasses|memory formats)|MyMode|__dict__/,
  ],
  [kSharedMemory, /share memory|numpy\(\)|from_numpy|frombuffer|dlpack|data_ptr/],
  [
    "n/a: Python's reference counts",
    /ref\(\)|is not None$|unexpectedly None|_cycle|cleaned_up|no_leak|_leak\b|destruct/,
  ],
  [
    "n/a: conjugate and negative bits",
    /conj_bit|neg_bit|is_conj|is_neg|conj_view|conj_imag|_conj|_neg_view|resolve_/,
  ],
  [
    "missing: strides of results",
    /BatchedGrad\.test_out_of_place_not_same_layout|out\.stride\(\)|te\.stride\(\)|Dropout.*is_contiguous/,
  ],
  ["n/a: memory formats", /memory_format|channels_last/],
  [
    "n/a: texts",
    /Regex didn't match|expected_regex must not be empty|String comparison failed|repr\(|str\(|assertExpected|test_print/,
  ],
  ["n/a: deprecated", /deprecat|DeprecationWarning|FutureWarning|register_backward_hook|legacy/i],
  [
    "n/a: numbers of Python that JavaScript does not tell apart",
    /index_no_floats|\[0\.0|float_index|only contain ints|numpy_float/,
  ],

  // Functions and options that edgegrad does not have.
  ["missing: forward AD inside vmap", /fwAD\.make_dual.*\[vmap\]|BatchedGrad/],
  [
    "missing: functions",
    /Unsupported: missing: (torch|Tensor|functorch|func)\.\w+|'Tensor'( object)? has no attribute|increment_version|version_counter/,
  ],
  [
    "missing: options of functions",
    /unknown option|antialias|too many arguments|is called as|expected at least 2 tensors|rtol: expected a number/,
  ],
  ["missing: other forms of arguments", /InvalidArgument: |TypeError: /],

  [
    "missing: dtypes",
    /\[[\w.]+\] (not implemented for (float16|bfloat16|complex\d+)|expected float32 or float64, got)/,
  ],

  // What JavaScript cannot tell or has not.
  ["shim: classes defined in Python", /shim: /],
  [
    "shim: lists and tuples",
    /'tuple' object has no attribute 'append'|isinstance\(\w+, (list|tuple)\)/,
  ],
  ["shim: state_dict of modules defined in Python", /load_state_dict_(custom|type)_/],
  ["shim: depth of recursion", /RecursionError/],
  ["shim: x.data", /\.data = /],
  ["n/a: attributes of PyTorch's modules", /has no attribute .(_|\w+s_proj)/],
  [
    "n/a: errors of another class",
    /padding_idx_error|test_embedding_padding_idx_cpu|attn_(fast_path_)?invalid_shape|different_dtypes|^[^|]*\| (with self\.assertRaises|self\.assertRaises)[^|]*\| [A-Z]\w+: \[|forbid_integral_dtype/,
  ],

  // Errors that edgegrad does not throw, and warnings that it does not give.
  ["missing: checks", /(Error|Exception)'> not raised/],
  ["missing: warnings", /not triggered|len\(w|\bw\[|_warns|warning/i],
];

/** Returns the reason why a test does not run whose dtype edgegrad lacks. */
export function reasonForDtype({ test, reason }) {
  return /^TestBufferProtocol|_from_(buffer|numpy)_/.test(test) ? kSharedMemory : reason;
}

/** Returns the reason for the outcome of a test that did not pass. */
export function reasonFor({ test, at = "", reason = "", emulated = [] }) {
  const text = `${test} | ${at} | ${reason} | emulated ${emulated}`.replaceAll("\n", " ");
  return kRules.find(([, pattern]) => pattern.test(text))?.[0] ?? kUnclassified;
}
