#pragma once

#include <cstdint>
#include <vector>

namespace eg::cpu {

/// A similar matrix that is better to compute with: element (i, j) of it is the element
/// (order[i], order[j]) of the original times scales[j] / scales[i], where scales are powers of
/// two.
struct Balance {
  std::vector<std::int64_t> order;
  std::vector<double> scales;
  /// Rows and columns first..last - 1 are all that couples. The matrix is triangular beyond them,
  /// so that the rest of its diagonal are eigenvalues.
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Returns the balance of an n x n matrix from the magnitudes of its elements, row by row, as
/// LAPACK's gebal: a row and a column whose norms would hardly shrink stay as they are. Scales are
/// between 2^-most and 2^most.
Balance balance_of(std::int64_t n, std::vector<double> magnitudes, int most);

}  // namespace eg::cpu
