#include "kernels/dropout.h"

#include "runtime/thread_pool.h"

namespace eg::kernel {

void Dropout::compute_on_cpu() const {
  visit_floating(x.dtype(), name, [&]<class T>() {
    T* const to = y.as<T>();
    const T* const from = x.as<T>();
    const bool* const is_kept = mask.as<bool>();
    const T kept = T{1} / static_cast<T>(keep);
    parallel_for(0, count, kMinElementsPerTask, [&](std::int64_t begin, std::int64_t end) {
      // A product instead of a selection: masked NaN stays NaN, as in PyTorch.
      for (std::int64_t i = begin; i < end; ++i) to[i] = from[i] * (is_kept[i] ? kept : T{0});
    });
  });
}

}  // namespace eg::kernel
