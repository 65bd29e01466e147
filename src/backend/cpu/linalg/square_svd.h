#pragma once

#include <cstdint>

namespace eg::cpu {

/// Computes a = u diag(s) v^T of a square matrix with finite elements of at most a few units; s
/// falls. Matrices lie column by column; `a` is overwritten; `u` and `v` may be null together.
/// Returns false when the iteration does not end.
bool square_svd(std::int64_t n, double* a, double* s, double* u, double* v);

}  // namespace eg::cpu
