#pragma once

#include <cstdint>

namespace eg::cpu {

/// Computes a = u diag(s) v^T for a square matrix with finite elements of order one; s is in
/// descending order. Matrices are column-major; `a` is overwritten; `u` and `v` may both be null.
/// Returns false when the iteration does not converge.
bool square_svd(std::int64_t n, double* a, double* s, double* u, double* v);

}  // namespace eg::cpu
