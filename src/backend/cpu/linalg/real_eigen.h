#pragma once

#include <cstdint>

#include "backend/cpu/linalg/complex_matrix.h"

namespace eg::cpu {

/// Computes A V = V diag(l) for a packed column-major real matrix with finite elements of order
/// one: the columns of V, which is only computed if requested, have any length. Eigenvalues that
/// are not real come in exact conjugate pairs. Returns false if the iteration does not converge.
bool real_eigen(std::int64_t n, const double* a, Complex* l, ComplexMatrix* v);

}  // namespace eg::cpu
