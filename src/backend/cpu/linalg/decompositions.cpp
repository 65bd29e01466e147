#include "backend/cpu/linalg/decompositions.h"

#include <cmath>

#include "backend/cpu/linalg/eigen_batch.h"

namespace eg::cpu {
namespace {

// The power of two by which to divide a matrix so that squares neither overflow nor vanish.
double magnitude(const Matrix& a) {
  const double greatest = a.cwiseAbs().maxCoeff();
  return greatest > 0 && std::isfinite(greatest) ? std::exp2(std::ilogb(greatest)) : 1;
}

}  // namespace

void qr(const MatrixBatch& a, std::int64_t q_columns, void* q, void* r) {
  for_each_matrix(a.count, a.rows * a.columns * q_columns, [&](std::int64_t i) {
    const Matrix matrix = load(a, i);
    if (matrix.size() == 0) {
      store(a.dtype, q, i, Matrix::Identity(index(a.rows), index(q_columns)));
      return 0;
    }
    const double scale = magnitude(matrix);
    const Eigen::HouseholderQR<Matrix> qr(matrix / scale);
    if (q != nullptr)
      store(a.dtype, q, i, qr.householderQ() * Matrix::Identity(index(a.rows), index(q_columns)));
    const Matrix upper = qr.matrixQR().topRows(q_columns).triangularView<Eigen::Upper>();
    store(a.dtype, r, i, upper * scale);
    return 0;
  });
}

Breakdown svd(const MatrixBatch& a, bool full, void* u, void* s, void* vh) {
  using Svd = Eigen::JacobiSVD<Matrix, Eigen::HouseholderQRPreconditioner>;
  const bool vectors = u != nullptr || vh != nullptr;
  const unsigned wanted =
      full ? Eigen::ComputeFullU | Eigen::ComputeFullV : Eigen::ComputeThinU | Eigen::ComputeThinV;
  const std::int64_t work = 10 * a.rows * a.columns * std::min(a.rows, a.columns);
  return for_each_matrix(a.count, work, [&](std::int64_t i) {
    const Matrix matrix = load(a, i);
    if (!matrix.allFinite()) return 1;
    if (matrix.size() == 0) {
      store(a.dtype, u, i, Matrix::Identity(index(a.rows), index(full ? a.rows : 0)));
      store(a.dtype, vh, i, Matrix::Identity(index(full ? a.columns : 0), index(a.columns)));
      return 0;
    }
    const Svd svd(matrix, vectors ? wanted : 0);
    store(a.dtype, s, i, svd.singularValues());
    if (!vectors) return 0;
    store(a.dtype, u, i, svd.matrixU());
    store(a.dtype, vh, i, svd.matrixV().transpose());
    return 0;
  });
}

Breakdown eigh(const MatrixBatch& a, bool upper, void* l, void* v) {
  return for_each_matrix(a.count, 10 * a.rows * a.rows * a.rows, [&](std::int64_t i) {
    Matrix matrix = load(a, i);
    if (!matrix.allFinite()) return 1;
    if (matrix.size() == 0) return 0;
    // Of which the lower triangle is read.
    if (upper) matrix.transposeInPlace();
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(
        matrix, v == nullptr ? Eigen::EigenvaluesOnly : Eigen::ComputeEigenvectors);
    if (eigen.info() != Eigen::Success) return 1;
    store(a.dtype, l, i, eigen.eigenvalues());
    if (v != nullptr) store(a.dtype, v, i, eigen.eigenvectors());
    return 0;
  });
}

}  // namespace eg::cpu
