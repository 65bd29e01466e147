#pragma once

#include <cstdint>

namespace eg::kernel {

/// A packed array seen as [outer, size, inner]; a kernel operates along `size`.
struct Rows {
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;

  /// The number of rows.
  std::int64_t positions() const { return outer * inner; }
  std::int64_t numel() const { return outer * size * inner; }
};

}  // namespace eg::kernel
