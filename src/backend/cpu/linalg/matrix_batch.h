#pragma once

#include <cstdint>
#include <functional>

#include "kernels/linalg.h"

namespace eg::cpu {

/// Writes a breakdown to those outputs that the caller asked for. By default, reports that there
/// was none.
void report(const kernel::Breakdown& breakdown, std::int64_t matrix = -1, std::int64_t order = 0);

/// Runs `factorize(index)` for all matrices of a batch and reports the first breakdown. `factorize`
/// returns the order at which it broke down, or 0. `work` is the approximate number of operations
/// per matrix.
void for_each_matrix(std::int64_t count, std::int64_t work, const kernel::Breakdown& breakdown,
                     const std::function<std::int64_t(std::int64_t)>& factorize);

}  // namespace eg::cpu
