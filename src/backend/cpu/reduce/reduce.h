#pragma once

// Reductions over any dimensions of a strided operand.
//
// What decides the speed is which dimension is innermost in memory. If it is a reduced one, each
// result is the fold of packed rows; if it is a kept one, neighbouring results are folded side by
// side, a tile of columns at a time; everything else, and every other dtype, is gathered into a
// tile first. Large reductions to few results are cut into chunks whose number follows from the
// shape, never from the number of threads, so a result is always the same to the last bit.

#include <cstdint>

#include "backend/cpu/elementwise/strided.h"

namespace eg::cpu {

/// What elements are folded into.
enum class Fold : std::uint8_t {
  kSum,
  kProd,
  kMax,
  kMin,
  kCountNonzero,
  // For floats only:
  kSumAbs,
  kSumSquares,
  kSumCenteredSquares,  ///< of the distances to Reduction::shifts
  kSumExp,              ///< of the distances to Reduction::shifts
  kMaxAbs,
  kMinAbs,
};

struct Reduction {
  Fold fold = Fold::kSum;
  /// float32, float64 or int64: the dtype of the results; elements are converted to it.
  DType compute = DType::kFloat32;
  /// Floating results are divided by this, in double precision,
  double divisor = 1;
  /// and then replaced by their square root.
  bool root = false;
  /// One number per result, of the dtype computed in; null for folds that need none.
  const void* shifts = nullptr;
};

/// Folds `in`, of the given shape, along `dims` (sorted); `out` receives the results, packed in
/// row-major order of the other dimensions.
void reduce(const Reduction& reduction, const Shape& shape, const Dims& dims, const Operand& in,
            void* out);

}  // namespace eg::cpu
