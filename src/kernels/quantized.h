#pragma once

// Products with a matrix of few bits, whose float32 numbers exist only in registers and cache
// blocks.
//
// A row of the matrix has one code per column: a byte, or half a byte, the lower half first. A code
// stands for (code - 2^(bits - 1)) * scale, and `group` columns of a row share a scale. Numbers of
// half precision are codes of 16 bits without scales. All arrays are packed, and hold float32 but
// for the codes.

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/divide_up.h"
#include "kernels/kernel.h"

namespace eg::kernel {

/// The columns that kernels decode together: groups are multiples of it.
inline constexpr std::int64_t kColumnsAtOnce = 32;

/// The layout of a matrix of codes, [rows, columns].
struct CodeLayout {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t bits;   ///< 4, 8 or 16
  std::int64_t group;  ///< a multiple of kColumnsAtOnce

  std::int64_t row_bytes() const { return divide_up(columns * bits, std::int64_t{8}); }
  /// A row without columns has a scale too.
  std::int64_t groups() const { return std::max<std::int64_t>(1, divide_up(columns, group)); }
};

/// The codes and scales that stand for X, [rows, columns], most closely: in every group the element
/// of the largest magnitude becomes code 0, which is -2^(bits - 1).
struct Quantize {
  static constexpr std::string_view name = "quantize";
  CodeLayout layout;
  In x;
  Out codes;
  Out scales;

  void compute_on_cpu() const;
};

/// Y = X Wᵀ + bias for X of [count, columns], or with `turned` Y = X W for X of [count, rows].
struct QuantizedProduct {
  static constexpr std::string_view name = "quantized_product";
  std::int64_t count;
  CodeLayout layout;
  bool turned;
  In x;
  In codes;           ///< uint8, [rows, row_bytes()]; float16 or bfloat16, [rows, columns]
  OptionalIn scales;  ///< [rows, groups()]
  OptionalIn bias;
  Out y;

  void compute_on_cpu() const;
};

using QuantizedKernels = TypeList<Quantize, QuantizedProduct>;

}  // namespace eg::kernel
