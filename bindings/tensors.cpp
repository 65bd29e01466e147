// Creating, reading and releasing tensors, and running ops on them.

#include <algorithm>

#include "autograd/graph/node.h"
#include "autograd/graph/variable.h"
#include "boundary.h"
#include "dispatch/own_result.h"
#include "dispatch/transfer.h"
#include "ops/create/copy.h"
#include "ops/op_table.h"
#include "runtime/memory.h"
#include "runtime/random.h"
#include "runtime/thread_pool.h"

namespace eg::bindings {
namespace {

enum InvokeFlags : int { kInPlace = 1 };

enum InfoFlags : int {
  kRequiresGrad = 1,
  kIsLeaf = 2,
  kIsContiguous = 4,
  kIsView = 8,
  kRetainsGrad = 16,
  kIsInference = 32,
};

enum Features : int { kThreads = 1, kSimd = 2, kRelaxedSimd = 4 };

// A view whose history cannot be rebuilt is not a leaf. Reading its shape must not throw for it.
int history_flags(const Tensor& t) {
  try {
    return (requires_grad(t) ? kRequiresGrad : 0) | (is_leaf(t) ? kIsLeaf : 0);
  } catch (const Error&) {
    return kRequiresGrad;
  }
}

}  // namespace

EG_EXPORT("invoke")
double invoke(int op, int words, int flags) {
  return guard([&] {
    return return_tensors(invoke_op(static_cast<std::size_t>(op), frame().data(),
                                    static_cast<std::size_t>(words), (flags & kInPlace) != 0));
  });
}

EG_EXPORT("createTensor")
double create_tensor(int dtype, int ndim) {
  return guard([&] {
    Shape shape;
    for (int i = 0; i < ndim; ++i)
      shape.push_back(static_cast<std::int64_t>(frame()[static_cast<std::size_t>(i)]));
    return named("tensor",
                 [&] { return handles().insert(Tensor::empty(shape, static_cast<DType>(dtype))); });
  });
}

EG_EXPORT("toDevice")
double to_device(Handle handle, int type) {
  return guard([&] {
    const Device device{static_cast<DeviceType>(type), 0};
    return return_tensor(ToDevice::call(handles().get(handle), device));
  });
}

EG_EXPORT("dataAddress")
double data_address(Handle handle) {
  // A copy of values on a device, which is valid until the next call.
  thread_local Tensor host_copy;
  return guard([&] {
    const Tensor& t = handles().get(handle);
    host_copy = t.device().is_cpu() ? Tensor() : on_host(t);
    const Tensor& there = host_copy.defined() ? host_copy : t;
    return reinterpret_cast<std::uintptr_t>(there.data());
  });
}

EG_EXPORT("release")
void release(Handle handle) { handles().release(handle); }

EG_EXPORT("retain")
double retain(Handle handle) {
  return guard([&] { return handles().insert(handles().get(handle)); });
}

EG_EXPORT("ownResult")
double own_result_of(Handle handle) {
  return guard([&] {
    own_result(handles().get(handle));
    return 0;
  });
}

EG_EXPORT("info")
double info(Handle handle) {
  return guard([&] {
    const Tensor& t = handles().get(handle);
    const int flags = history_flags(t) | (t.is_contiguous() ? kIsContiguous : 0) |
                      (is_view(t) ? kIsView : 0) | (retains_grad(t) ? kRetainsGrad : 0) |
                      (is_inference(t) ? kIsInference : 0);
    const std::size_t ndim = t.shape().size();
    std::vector<double>& words = frame(8 + 2 * ndim);
    words[0] = static_cast<double>(t.dtype());
    words[1] = static_cast<double>(t.device().type);
    words[2] = static_cast<double>(ndim);
    words[3] = static_cast<double>(t.numel());
    words[4] = static_cast<double>(t.offset());
    words[5] = is_inference(t) ? -1.0 : static_cast<double>(t.version());
    words[6] = output_nr(t);
    words[7] = flags;
    for (std::size_t i = 0; i < ndim; ++i) {
      words[8 + i] = static_cast<double>(t.shape()[i]);
      words[8 + ndim + i] = static_cast<double>(t.strides()[i]);
    }
    return 0;
  });
}

EG_EXPORT("manualSeed")
void seed(double high, double low) {
  manual_seed(static_cast<std::uint64_t>(high) << 32 | static_cast<std::uint64_t>(low));
}

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

EG_EXPORT("useOwnGenerator")
void use_generator_of_thread(int own) { use_own_generator(own != 0); }

EG_EXPORT("memory")
double memory() {
  const MemoryStats stats = memory_stats();
  std::vector<double>& words = frame();
  words[0] = static_cast<double>(TensorImpl::live_count());
  words[1] = static_cast<double>(Storage::live_count());
  words[2] = static_cast<double>(stats.bytes);
  words[3] = static_cast<double>(stats.peak_bytes);
  words[4] = static_cast<double>(stats.cached_bytes);
  words[5] = static_cast<double>(Node::live_count());
  words[6] = static_cast<double>(handles().live_count());
  return 7;
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
  int bits = kSimd;
#if EG_THREADS
  bits |= kThreads;
#endif
#ifdef __wasm_relaxed_simd__
  bits |= kRelaxedSimd;
#endif
  return bits;
}

EG_EXPORT("threadCount")
int thread_count() { return num_threads(); }

EG_EXPORT("opTableHash")
double table_hash() { return op_table_hash(); }

}  // namespace eg::bindings
