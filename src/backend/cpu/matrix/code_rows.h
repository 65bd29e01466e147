#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "backend/cpu/matrix/code_formats.h"
#include "backend/cpu/matrix/gemm/vector.h"
#include "kernels/quantized.h"

namespace eg::cpu {

/// Rows of codes with their scales; half precision has none.
template <class Format>
class CodeRows {
 public:
  explicit CodeRows(const kernel::QuantizedProduct& p)
      : layout_(p.layout),
        row_bytes_(p.layout.row_bytes()),
        groups_(p.layout.groups()),
        codes_(static_cast<const std::uint8_t*>(p.codes.bytes())),
        scales_(p.scales ? p.scales.as<float>() : nullptr) {}

  const kernel::CodeLayout& layout() const { return layout_; }

  const std::uint8_t* codes(std::int64_t row, std::int64_t column) const {
    return codes_ + row * row_bytes_ + column * Format::kBits / 8;
  }

  const float* scales(std::int64_t row) const { return scales_ + row * groups_; }
  float scale(std::int64_t row, std::int64_t group) const {
    return scales_ == nullptr ? 1 : scales_[row * groups_ + group];
  }

  /// Calls use(group, first, last) for the parts of [begin, end) that have one scale each; `begin`
  /// is a multiple of 32.
  template <class Use>
  EG_GEMM_INLINE void for_each_group(std::int64_t begin, std::int64_t end, Use&& use) const {
    std::int64_t group = begin / layout_.group;
    for (std::int64_t first = begin; first < end; ++group) {
      const std::int64_t last = std::min(end, (group + 1) * layout_.group);
      use(group, first, last);
      first = last;
    }
  }

  /// The codes of less than 32 columns at the end of a row, where a whole vector could reach past
  /// the end of the memory.
  auto last_codes(std::int64_t row, std::int64_t column) const {
    std::array<std::uint8_t, kColumnsAtOnce * Format::kBits / 8> copy{};
    std::copy(codes(row, column), codes(row + 1, 0), copy.begin());
    return copy;
  }

  /// Writes the numbers of columns [begin, end) of a row; `begin` is a multiple of 32.
  void decode(std::int64_t row, std::int64_t begin, std::int64_t end, float* to) const {
    for_each_group(begin, end, [&](std::int64_t group, std::int64_t first, std::int64_t last) {
      const Floats factor = splat(scale(row, group));
      std::int64_t column = first;
      for (; column + kColumnsAtOnce <= last; column += kColumnsAtOnce) {
        float* const at = to + (column - begin);
        Format::for_each_number(codes(row, column), [&](int i, Floats numbers) {
          gemm::store(at + i * kLanes<float>, numbers * factor);
        });
      }
      if (column == last) return;
      std::array<float, kColumnsAtOnce> rest;
      Format::for_each_number(last_codes(row, column).data(), [&](int i, Floats numbers) {
        gemm::store(rest.data() + i * kLanes<float>, numbers * factor);
      });
      std::copy_n(rest.data(), last - column, to + (column - begin));
    });
  }

 private:
  const kernel::CodeLayout& layout_;
  std::int64_t row_bytes_;
  std::int64_t groups_;
  const std::uint8_t* codes_;
  const float* scales_;
};

/// Writes the sums of the lanes of `total` to `out`.
template <int kCount, int kRows>
EG_GEMM_INLINE void add_lanes(const Floats (&total)[kCount][kRows], float (&out)[kCount][kRows]) {
  for (int i = 0; i < kCount; ++i) {
    for (int j = 0; j < kRows; ++j) {
      const Floats lanes = total[i][j];
      out[i][j] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
  }
}

}  // namespace eg::cpu
