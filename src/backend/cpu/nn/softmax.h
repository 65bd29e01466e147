#pragma once

// Softmax and its logarithm, forward and backward, over the middle dimension of packed arrays.

#include <cstdint>

#include "backend/cpu/reduce/rows.h"

namespace eg::cpu {

enum class Softmax : std::uint8_t { kPlain, kLog };

void softmax(Softmax kind, const Rows& rows, const void* in, void* out);

/// From the gradient of the result and the result itself.
void softmax_backward(Softmax kind, const Rows& rows, const void* grad, const void* out,
                      void* grad_in);

}  // namespace eg::cpu
