#pragma once

// What the kernels of sparse matrices share.

#include <algorithm>
#include <complex>
#include <cstdint>

#include "base/error.h"
#include "kernels/sparse.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {

/// How many items of this work make a task.
inline std::int64_t items_per_task(std::int64_t work) {
  return std::max<std::int64_t>(1, kMinElementsPerTask / std::max<std::int64_t>(1, work));
}

/// A sparse matrix in CSR layout, as a kernel gets it.
struct Csr {
  explicit Csr(const kernel::CsrPattern& p)
      : rows(p.rows),
        columns(p.columns),
        starts(p.row_starts.as<std::int64_t>()),
        column(p.column_indices.as<std::int64_t>()) {}

  /// Rows of the matrix that make a task, where each value needs `width` multiplications.
  [[nodiscard]] std::int64_t rows_per_task(std::int64_t width) const {
    return items_per_task(starts[rows] * width / std::max<std::int64_t>(1, rows));
  }

  std::int64_t rows;
  std::int64_t columns;
  const std::int64_t* starts;
  const std::int64_t* column;
};

/// Calls `visit` with the type of the numbers of a sparse matrix.
template <class Visit>
void visit_fractional(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::kFloat32:
      return visit.template operator()<float>();
    case DType::kFloat64:
      return visit.template operator()<double>();
    case DType::kComplex64:
      return visit.template operator()<std::complex<float>>();
    case DType::kComplex128:
      return visit.template operator()<std::complex<double>>();
    default:
      fail(ErrorCode::kInternal, "sparse products have no kernel for ", dtype, '.');
  }
}

}  // namespace eg::cpu
