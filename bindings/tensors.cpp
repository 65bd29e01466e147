// compile: engine

// Creating, reading and releasing tensors, and running ops on them.

#include <algorithm>

#include "autograd/graph/node.h"
#include "autograd/graph/variable.h"
#include "backend/cpu/vector/relaxed_simd.h"
#include "border.h"
#include "border_schema.h"
#include "dispatch/own_result.h"
#include "dispatch/transfer.h"
#include "ops/create/copy.h"
#include "ops/op_table.h"
#include "runtime/factory_device.h"
#include "runtime/memory.h"
#include "runtime/random.h"
#include "runtime/thread_pool.h"
#include "tensor/sparse.h"
#include "words.h"

namespace eg::bindings {
namespace {

// A view whose history cannot be rebuilt is not a leaf. Reading its shape must not throw for it.
int history_flags(const Tensor& t) {
  try {
    return (requires_grad(t) ? kRequiresGrad : 0) | (is_leaf(t) ? kIsLeaf : 0);
  } catch (const Error&) {
    return kRequiresGrad;
  }
}

int layout_flags(const Tensor& t) {
  if (!t.is_sparse()) return 0;
  const SparsePattern& pattern = *t.sparse().pattern;
  return kIsSparse | (pattern.layout == Layout::kSparseCsr ? kIsCsr : 0) |
         (pattern.is_coalesced ? kIsCoalesced : 0);
}

}  // namespace

// Runs an op on the frame's words; returns the number of result handles. A handle is negated if
// this thread has another handle of the same tensor.
EG_EXPORT("invoke")
double invoke(int op, int words, int flags) {
  const auto id = static_cast<std::size_t>(op);
  const NativeCall call(stack_need(id));
  return caught([&] {
    Results results =
        invoke_op(id, frame().data(), static_cast<std::size_t>(words), (flags & kInPlace) != 0);
    if (results.size() != 1) return return_tensors(std::move(results), &return_result);
    frame()[0] = return_result(std::move(results[0]));
    return 1.0;
  });
}

// Returns an uninitialized row-major tensor; its shape is in the frame.
EG_EXPORT("createTensor")
double create_tensor(int dtype, int ndim) {
  return guard([&] {
    Shape shape;
    for (int i = 0; i < ndim; ++i)
      shape.push_back(static_cast<std::int64_t>(frame()[static_cast<std::size_t>(i)]));
    return handles().insert(Tensor::empty(shape, static_cast<DType>(dtype)));
  });
}

// Returns the tensor on a device.
EG_EXPORT("toDevice")
double to_device(Handle handle, int type) {
  return guard([&] {
    const Device device{static_cast<DeviceType>(type), 0};
    return return_tensor(ToDevice::call(handles().get(handle), device));
  });
}

// Returns the address of a view's first element.
EG_EXPORT("dataAddress")
double data_address(Handle handle) {
  // A copy of values on a device, which is valid until the next call.
  thread_local Tensor host_copy;
  return guard([&] {
    const Tensor& t = handles().get(handle);
    check(!t.is_sparse(), ErrorCode::kInvalidArgument, "data",
          "expected a dense tensor, got a sparse one. Use its toDense(), or its values().");
    host_copy = t.device().is_cpu() ? Tensor() : on_host(t);
    const Tensor& there = host_copy.defined() ? host_copy : t;
    return reinterpret_cast<std::uintptr_t>(there.data());
  });
}

// Returns a number that tensors have in common while they share their memory.
EG_EXPORT("storageAddress")
double storage_address(Handle handle) {
  return guard(
      [&] { return reinterpret_cast<std::uintptr_t>(handles().get(handle).storage().get()); });
}

EG_EXPORT("incrementVersion")
double increment_version(Handle handle) {
  return guard([&] {
    handles().get(handle).bump_version();
    return 0;
  });
}

EG_EXPORT("setVersion")
double set_version(Handle handle, int version) {
  return guard([&] {
    handles().get(handle).set_version(static_cast<std::uint32_t>(version));
    return 0;
  });
}

EG_EXPORT("release")
void release(Handle handle) {
  // A finalizer must not throw.
  if (!NativeCall::is_possible()) return;
  const NativeCall call;
  handles().release(handle);
}

EG_EXPORT("retain")
double retain(Handle handle) {
  return guard([&] { return handles().insert(handles().get(handle)); });
}

// Returns this thread's first handle of the tensor of a handle, which may be that handle.
EG_EXPORT("firstHandle")
double first_handle(Handle handle) {
  const NativeCall call;
  return handles().first(handle);
}

EG_EXPORT("makeFirstHandle")
void make_first_handle(Handle handle) {
  const NativeCall call;
  handles().make_first(handle);
}

// Turns a view whose base has no other user into a tensor that is not a view.
EG_EXPORT("ownResult")
double own_result_of(Handle handle) {
  return guard([&] {
    own_result(handles().get(handle));
    return 0;
  });
}

// Writes dtype, device, ndim, numel, offset, version (-1: none), outputNr, flags, shape...,
// strides...
EG_EXPORT("info")
double info(Handle handle) {
  return guard([&] {
    const Tensor& t = handles().get(handle);
    const int flags = history_flags(t) | (t.is_contiguous() ? kIsContiguous : 0) |
                      (is_view(t) ? kIsView : 0) | (retains_grad(t) ? kRetainsGrad : 0) |
                      (is_inference(t) ? kIsInference : 0) | layout_flags(t);
    const SparsePattern* pattern = t.is_sparse() ? t.sparse().pattern.get() : nullptr;
    constexpr std::size_t kWords = sizeof(TensorWords) / sizeof(double);
    const std::size_t ndim = t.shape().size();
    std::vector<double>& words = frame(kWords + 2 * ndim);
    write_words(
        words,
        TensorWords{
            .dtype = static_cast<double>(t.dtype()),
            .device = static_cast<double>(t.device().type),
            .ndim = static_cast<double>(ndim),
            .numel = static_cast<double>(t.numel()),
            .offset = static_cast<double>(t.offset()),
            .version = is_inference(t) ? -1.0 : static_cast<double>(t.version()),
            .output_nr = static_cast<double>(output_nr(t)),
            .flags = static_cast<double>(flags),
            .nnz = pattern == nullptr ? 0.0 : static_cast<double>(pattern->nnz_of_each()),
            .sparse_dim = pattern == nullptr ? 0.0 : static_cast<double>(pattern->sparse_dim())});
    for (std::size_t i = 0; i < ndim; ++i) {
      words[kWords + i] = static_cast<double>(t.shape()[i]);
      words[kWords + ndim + i] = static_cast<double>(t.strides()[i]);
    }
    return 0;
  });
}

EG_EXPORT("manualSeed")
void seed(double high, double low) {
  const NativeCall call;
  manual_seed(static_cast<std::uint64_t>(high) << 32 | static_cast<std::uint64_t>(low));
}

// Returns the state of the random number generator in use on this thread, as a tensor of bytes.
EG_EXPORT("rngState")
double rng_state() {
  return guard([&] {
    const std::vector<std::uint8_t> bytes = active_generator().state();
    const Tensor state = Tensor::empty({static_cast<std::int64_t>(bytes.size())}, DType::kUInt8);
    std::ranges::copy(bytes, state.data_as<std::uint8_t>());
    return handles().insert(state);
  });
}

EG_EXPORT("setRngState")
double set_rng_state(Handle handle) {
  return guard([&] {
    const Tensor& state = handles().get(handle);
    const auto* bytes = state.data_as<std::uint8_t>();
    active_generator().set_state({bytes, static_cast<std::size_t>(state.numel())});
    return 0;
  });
}

// Makes the factories called next on this thread create tensors on the device with this code; -1
// ends that.
EG_EXPORT("useFactoryDevice")
void use_device_of_factories(int code) {
  const NativeCall call(StackNeed::kNone);
  use_factory_device(code < 0 ? std::nullopt
                              : std::optional(Device{static_cast<DeviceType>(code)}));
}

// Makes this thread use a separate generator, whose state is then set, or the global one again.
EG_EXPORT("useOwnGenerator")
void use_generator_of_thread(bool own) {
  const NativeCall call(StackNeed::kNone);
  use_own_generator(own);
}

// Writes the numbers of tensors, storages, bytes, peak bytes, cached bytes, graph nodes and
// handles.
EG_EXPORT("memory")
double memory() {
  const NativeCall call;
  const MemoryStats stats = memory_stats();
  return static_cast<double>(
      write_words(frame(), MemoryWords{.tensors = static_cast<double>(TensorImpl::live_count()),
                                       .storages = static_cast<double>(Storage::live_count()),
                                       .bytes = static_cast<double>(stats.bytes),
                                       .peak_bytes = static_cast<double>(stats.peak_bytes),
                                       .cached_bytes = static_cast<double>(stats.cached_bytes),
                                       .nodes = static_cast<double>(Node::live_count()),
                                       .handles = static_cast<double>(handles().live_count())}));
}

EG_EXPORT("setThreads")
double set_threads(int count) {
  return guard([&] {
    set_num_threads(count);
    return 0;
  });
}

EG_EXPORT("features")
int features() {
  int bits = kHasSimd;
#if EG_THREADS
  bits |= kHasThreads;
#endif
  if (cpu::has_relaxed_simd()) bits |= kHasRelaxedSimd;
  return bits;
}

EG_EXPORT("threadCount")
int thread_count() { return num_threads(); }

// Identifies the format of what this module exchanges with TypeScript: kBorderHash of
// generated/border.ts.
EG_EXPORT("borderHash")
double hash_of_border() { return border_hash(); }

}  // namespace eg::bindings
