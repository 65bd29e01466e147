#pragma once

// Scans (running sums, products and similar) along the middle dimension of packed arrays.

#include <string_view>

#include "kernels/kernel.h"
#include "kernels/rows.h"

namespace eg::kernel {

enum class ScanKind : std::uint8_t { kSum, kProd, kLogSumExp };

/// y[i] = x[0] op ... op x[i], for floats (accumulated in double) or, for sums and products, int64.
struct Scan {
  static constexpr std::string_view name = "scan";
  ScanKind kind;
  Rows rows;
  In x;
  Out y;

  void compute_on_cpu() const;
};

/// y[i] = x[i] + factor[i] * y[i - 1], with y[0] = x[0]; for floats.
struct Recurrence {
  static constexpr std::string_view name = "recurrence";
  Rows rows;
  In x;
  In factor;
  Out y;

  void compute_on_cpu() const;
};

using ScanKernels = TypeList<Scan, Recurrence>;

}  // namespace eg::kernel
