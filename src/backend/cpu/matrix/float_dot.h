#pragma once

// Products of few rows of X with rows of codes, which are multiplied in the registers in which they
// are decoded.

#include <algorithm>
#include <cstdint>

#include "backend/cpu/matrix/code_rows.h"
#include "backend/cpu/matrix/gemm/scratch.h"
#include "backend/cpu/matrix/gemm/vector.h"
#include "base/divide_up.h"
#include "kernels/quantized.h"

namespace eg::cpu {

/// The rows of X with zeros up to a multiple of 32 columns: X itself if it needs none.
class PaddedRows {
 public:
  explicit PaddedRows(const kernel::QuantizedProduct& p)
      : rows_(p.x.as<float>()),
        stride_(divide_up(p.layout.columns, kColumnsAtOnce) * kColumnsAtOnce) {
    if (stride_ == p.layout.columns) return;
    float* const copy = scratch_.take<float>(p.count * stride_);
    std::fill_n(copy, p.count * stride_, 0.0F);
    for (std::int64_t i = 0; i < p.count; ++i)
      std::copy_n(rows_ + i * p.layout.columns, p.layout.columns, copy + i * stride_);
    rows_ = copy;
  }

  const float* row(std::int64_t i) const { return rows_ + i * stride_; }
  std::int64_t stride() const { return stride_; }

 private:
  gemm::Scratch scratch_;
  const float* rows_;
  std::int64_t stride_;
};

template <class Format>
class FloatDots {
 public:
  explicit FloatDots(const kernel::QuantizedProduct& p) : rows_(p), x_(p) {}

  /// Computes the products of `kCount` rows of X from `first` on with `kRows` rows of codes from
  /// `row` on: out[i][j] belongs to row first + i of X.
  template <int kCount, int kRows>
  void multiply(std::int64_t first, std::int64_t row, float (&out)[kCount][kRows]) const {
    // Several sums, because an addition has to wait for the one before it.
    constexpr int kSums = kRows == 1 ? 4 : 1;
    const float* const x = x_.row(first);
    const std::int64_t stride = x_.stride();
    Floats total[kCount][kRows] = {};
    rows_.for_each_group(
        0, rows_.layout().columns, [&](std::int64_t group, std::int64_t begin, std::int64_t end) {
          Floats sum[kCount][kRows][kSums] = {};
          const auto add = [&](int j, const std::uint8_t* from, std::int64_t column) {
            Format::for_each_number(from, [&](int v, Floats numbers) {
              EG_GEMM_UNROLL
              for (int i = 0; i < kCount; ++i) {
                const Floats own = gemm::load(x + i * stride + column + v * kLanes<float>);
                sum[i][j][v % kSums] = multiply_add(numbers, own, sum[i][j][v % kSums]);
              }
            });
          };
          std::int64_t column = begin;
          for (; column + kColumnsAtOnce <= end; column += kColumnsAtOnce) {
            EG_GEMM_UNROLL
            for (int j = 0; j < kRows; ++j) add(j, rows_.codes(row + j, column), column);
          }
          if (column < end) {
            for (int j = 0; j < kRows; ++j)
              add(j, rows_.last_codes(row + j, column).data(), column);
          }
          EG_GEMM_UNROLL
          for (int j = 0; j < kRows; ++j) {
            const Floats factor = splat(rows_.scale(row + j, group));
            EG_GEMM_UNROLL
            for (int i = 0; i < kCount; ++i) {
              Floats all = sum[i][j][0];
              EG_GEMM_UNROLL
              for (int v = 1; v < kSums; ++v) all += sum[i][j][v];
              total[i][j] = multiply_add(all, factor, total[i][j]);
            }
          }
        });
    add_lanes(total, out);
  }

 private:
  CodeRows<Format> rows_;
  PaddedRows x_;
};

}  // namespace eg::cpu
