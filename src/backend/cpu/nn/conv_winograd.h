#pragma once

// 3 x 3 convolutions of many channels by Winograd's algorithm (winograd_transforms.h): 2.25 times
// fewer multiplications, as 16 matrix products. Only for float32, where the errors are no larger
// than those of plain sums, because each sum has a ninth of the terms.

#include <atomic>
#include <cstdint>
#include <vector>

#include "backend/cpu/nn/conv_pass.h"
#include "backend/cpu/nn/winograd_tiling.h"

namespace eg::cpu {

/// Returns whether Winograd's algorithm is faster for a pass, or for the gradient of its weight.
/// The choice depends neither on the batch size nor on the number of threads, so an image has the
/// same result alone and in a batch.
bool winograd_pays(const ConvPass& pass);
bool winograd_weight_pays(const ConvPass& pass);

/// Computes a pass. Winograd's algorithm turns infinities into NaN, so parts with a result that is
/// not finite must be recomputed by the caller: their elements of `needs_fallback` are set to true.
void winograd_convolve(const ConvPass& pass, const float* from, const float* weight,
                       const float* bias, float* to,
                       std::vector<std::atomic<bool>>& needs_fallback);

/// The gradient of the weight of the convolution computed by a pass. Here, too, infinities become
/// NaN.
class WinogradWeightGradient {
 public:
  explicit WinogradWeightGradient(const ConvPass& pass);

  std::int64_t scratch_size() const;
  std::int64_t bundle() const { return 1; }

  /// Initializes scratch memory for add().
  void prepare(float*) const {}

  /// Adds the contribution of images [first, last) to a group's weights.
  void add(std::int64_t first, std::int64_t last, std::int64_t group, const float* grad_out,
           const float* in, float* weight, float* scratch) const;

 private:
  // Distances between consecutive ones of the 16 matrices: of the source, of the gradient, and of
  // their products.
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
