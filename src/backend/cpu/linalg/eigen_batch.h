#pragma once

// Batches of matrices as Eigen's. Tensors hold them row by row in either floating dtype; load() and
// store() convert. Eigen computes in double, one instantiation for both dtypes. All of Eigen comes
// through this header: its settings have to be the same wherever it is seen.

#define EIGEN_NO_IO
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_MPL2_ONLY
#define EIGEN_DONT_VECTORIZE
#include <cstdint>
#include <functional>

#include <Eigen/Core>
#include <Eigen/QR>

#include "kernels/linalg.h"

namespace eg::cpu {

using Matrix = Eigen::MatrixXd;

/// A size of a matrix in memory as Eigen counts.
inline Eigen::Index index(std::int64_t size) { return static_cast<Eigen::Index>(size); }

/// Matrix `index` of a batch.
Matrix load(const kernel::MatrixBatch& batch, const kernel::In& a, std::int64_t index);
/// Writes matrix `index` of a batch of such matrices, where they are wanted. A vector is a column.
void store(const kernel::Out& to, std::int64_t index, const Matrix& value);
/// Writes number `index`.
void store(const kernel::Out& to, std::int64_t index, double value);

/// Reports a breakdown to who wants to know; by default, that there was none.
void report(const kernel::Breakdown& breakdown, std::int64_t matrix = -1, std::int64_t order = 0);

/// Runs `factorize(index)`, which returns the order of what it broke down at or 0, for all matrices
/// of a batch, and reports the first breakdown. `work` is about the number of operations each
/// takes.
void for_each_matrix(std::int64_t count, std::int64_t work, const kernel::Breakdown& breakdown,
                     const std::function<std::int64_t(std::int64_t)>& factorize);

}  // namespace eg::cpu
