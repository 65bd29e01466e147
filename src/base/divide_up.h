#pragma once

#include <cstdint>

namespace eg {

/// How many parts of size `by` hold `count`: the last may not be full.
constexpr std::int64_t divide_up(std::int64_t count, std::int64_t by) {
  return (count + by - 1) / by;
}

}  // namespace eg
