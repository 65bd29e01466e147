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

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

#include "backend/cpu/linalg/linalg.h"

namespace eg::cpu {

using Matrix = Eigen::MatrixXd;

/// A size of a matrix in memory as Eigen counts.
inline Eigen::Index index(std::int64_t size) { return static_cast<Eigen::Index>(size); }

/// Matrix `index` of a batch.
Matrix load(const MatrixBatch& a, std::int64_t index);
/// Writes matrix `index` of a batch of such matrices; null is nowhere. A vector is a column.
void store(DType dtype, void* data, std::int64_t index, const Matrix& value);
/// Writes number `index`.
void store(DType dtype, void* data, std::int64_t index, double value);

/// Runs `factorize(index)`, which returns the order of what it broke down at or 0, for all matrices
/// of a batch. `work` is about the number of operations each takes.
Breakdown for_each_matrix(std::int64_t count, std::int64_t work,
                          const std::function<std::int64_t(std::int64_t)>& factorize);

}  // namespace eg::cpu
