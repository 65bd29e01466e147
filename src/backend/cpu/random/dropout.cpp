#include "backend/cpu/random/dropout.h"

#include "runtime/thread_pool.h"

namespace eg::cpu {

void drop(DType dtype, void* out, const void* in, const bool* mask, double keep,
          std::int64_t count) {
  visit_floating(dtype, "dropout", [&]<class T>() {
    auto* to = static_cast<T*>(out);
    const auto* from = static_cast<const T*>(in);
    const T kept = T{1} / static_cast<T>(keep);
    parallel_for(0, count, kMinElementsPerTask, [&](std::int64_t begin, std::int64_t end) {
      // A product and not a choice: NaN stays NaN under the mask too, as in PyTorch.
      for (std::int64_t i = begin; i < end; ++i) to[i] = from[i] * (mask[i] ? kept : T{0});
    });
  });
}

}  // namespace eg::cpu
