#pragma once

// Softmax and its logarithm, forward and backward, over the middle dimension of packed arrays.

#include <cstdint>

#include "base/dtype.h"

namespace eg::cpu {

/// A packed array seen as [outer, size, inner]: `size` is what is normalised or classified over.
struct Rows {
  DType dtype = DType::kFloat32;  ///< float32 or float64
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;
};

enum class Softmax : std::uint8_t { kPlain, kLog };

void softmax(Softmax kind, const Rows& rows, const void* in, void* out);

/// From the gradient of the result and the result itself.
void softmax_backward(Softmax kind, const Rows& rows, const void* grad, const void* out,
                      void* grad_in);

}  // namespace eg::cpu
