#pragma once

#include <cstdint>

namespace eg::cpu {

/// Computes A V = V diag(l) with rising l of a packed symmetric matrix, of which the lower triangle
/// is read. Its elements are finite and at most a few units. Matrices lie row by row; `v` may be
/// null. Returns false when the iteration does not end.
template <class T>
bool symmetric_eigen(std::int64_t n, const T* a, T* l, T* v);

}  // namespace eg::cpu
