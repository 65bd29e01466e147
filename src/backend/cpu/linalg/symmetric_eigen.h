#pragma once

#include <cstdint>
#include <vector>

#include "backend/cpu/linalg/complex_matrix.h"

namespace eg::cpu {

/// Computes A V = V diag(l), with l ascending, for a packed symmetric matrix of which only the
/// lower triangle is read. Its elements must be finite and of order one. Matrices are row-major;
/// `v` may be null. Returns false when the iteration does not converge.
template <class T>
bool symmetric_eigen(std::int64_t n, const T* a, T* l, T* v);

/// The same for a Hermitian matrix, which is changed. `l` and `v`, which may be null, have its
/// size.
bool hermitian_eigen(ComplexMatrix& a, std::vector<double>& l, ComplexMatrix* v);

}  // namespace eg::cpu
