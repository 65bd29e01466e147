#pragma once

#include <cstdint>

namespace eg {

/// Returns how many parts of size `by` cover `count`; the last may be partial.
constexpr std::int64_t divide_up(std::int64_t count, std::int64_t by) {
  return (count + by - 1) / by;
}

}  // namespace eg
