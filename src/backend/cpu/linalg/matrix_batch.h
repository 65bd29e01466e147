#pragma once

#include <cstdint>
#include <functional>

#include "kernels/linalg.h"

namespace eg::cpu {

/// Reports a breakdown to who wants to know; by default, that there was none.
void report(const kernel::Breakdown& breakdown, std::int64_t matrix = -1, std::int64_t order = 0);

/// Runs `factorize(index)`, which returns the order of what it broke down at or 0, for all matrices
/// of a batch, and reports the first breakdown. `work` is about the number of operations each
/// takes.
void for_each_matrix(std::int64_t count, std::int64_t work, const kernel::Breakdown& breakdown,
                     const std::function<std::int64_t(std::int64_t)>& factorize);

}  // namespace eg::cpu
