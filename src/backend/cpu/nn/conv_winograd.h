#pragma once

// 3 x 3 convolutions of many channels by Winograd's way (winograd_transforms.h): 2.25 times fewer
// multiplications, as 16 products of matrices. In float32 alone, where its errors are those of the
// plain sums or less: a sum has a ninth of the terms.

#include <atomic>
#include <cstdint>
#include <vector>

#include "backend/cpu/nn/conv_pass.h"
#include "backend/cpu/nn/winograd_tiling.h"

namespace eg::cpu {

/// Whether that is faster for a pass, and for the gradient of its weight. It depends neither on the
/// batch nor on the number of threads, so an image gives the same numbers alone and among others.
bool winograd_pays(const ConvPass& pass);
bool winograd_weight_pays(const ConvPass& pass);

/// Computes a pass. An infinity would become a NaN, so a part with a result that is not finite is
/// left to be computed otherwise: its element of `is_left` becomes true.
void winograd_convolve(const ConvPass& pass, const float* from, const float* weight,
                       const float* bias, float* to, std::vector<std::atomic<bool>>& is_left);

/// The gradient of the weight of the convolution whose result is made by a pass. Infinities become
/// NaN here too.
class WinogradWeightGradient {
 public:
  explicit WinogradWeightGradient(const ConvPass& pass);

  std::int64_t scratch_size() const;
  std::int64_t bundle() const { return 1; }

  /// Makes scratch memory ready for `add`.
  void prepare(float*) const {}

  /// Adds what images [first, last) give to a group's weights.
  void add(std::int64_t first, std::int64_t last, std::int64_t group, const float* grad_out,
           const float* in, float* weight, float* scratch) const;

 private:
  // Numbers from one of the 16 matrices to the next: of the source, of the gradient, of their
  // products.
  std::int64_t in_step() const;
  std::int64_t out_step() const;
  std::int64_t sums_step() const;

  void add_band(std::int64_t first, std::int64_t last, std::int64_t group, const float* grad_out,
                const float* in, float* scratch) const;

  const ConvPass& pass_;
  winograd::Tiling tiling_;
  std::int64_t in_tiles_;
  std::int64_t out_tiles_;
};

}  // namespace eg::cpu
