// By Eigen: QR by Householder's reflections, singular values by Jacobi's rotations, eigenvalues by
// implicit QR steps on a tridiagonal matrix.

#include "kernels/decompositions.h"

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
}  // namespace eg::cpu

namespace eg::kernel {

using cpu::index;
using cpu::load;
using cpu::Matrix;
using cpu::store;

void Qr::compute_on_cpu() const {
  const std::int64_t work = batch.rows * batch.columns * q_columns;
  cpu::for_each_matrix(batch.count, work, {}, [&](std::int64_t i) {
    const Matrix matrix = load(batch, a, i);
    if (matrix.size() == 0) {
      store(q, i, Matrix::Identity(index(batch.rows), index(q_columns)));
      return 0;
    }
    const double scale = cpu::magnitude(matrix);
    const Eigen::HouseholderQR<Matrix> qr(matrix / scale);
    if (q) store(q, i, qr.householderQ() * Matrix::Identity(index(batch.rows), index(q_columns)));
    const Matrix upper = qr.matrixQR().topRows(q_columns).triangularView<Eigen::Upper>();
    store(r, i, upper * scale);
    return 0;
  });
}

void Svd::compute_on_cpu() const {
  using JacobiSvd = Eigen::JacobiSVD<Matrix, Eigen::HouseholderQRPreconditioner>;
  const std::int64_t rows = batch.rows;
  const std::int64_t columns = batch.columns;
  const bool vectors = u || vh;
  const unsigned wanted =
      full ? Eigen::ComputeFullU | Eigen::ComputeFullV : Eigen::ComputeThinU | Eigen::ComputeThinV;
  const std::int64_t work = 10 * rows * columns * std::min(rows, columns);
  cpu::for_each_matrix(batch.count, work, breakdown, [&](std::int64_t i) {
    const Matrix matrix = load(batch, a, i);
    if (!matrix.allFinite()) return 1;
    if (matrix.size() == 0) {
      store(u, i, Matrix::Identity(index(rows), index(full ? rows : 0)));
      store(vh, i, Matrix::Identity(index(full ? columns : 0), index(columns)));
      return 0;
    }
    const JacobiSvd svd(matrix, vectors ? wanted : 0);
    store(s, i, svd.singularValues());
    if (!vectors) return 0;
    store(u, i, svd.matrixU());
    store(vh, i, svd.matrixV().transpose());
    return 0;
  });
}

void Eigh::compute_on_cpu() const {
  const std::int64_t n = batch.rows;
  cpu::for_each_matrix(batch.count, 10 * n * n * n, breakdown, [&](std::int64_t i) {
    Matrix matrix = load(batch, a, i);
    if (!matrix.allFinite()) return 1;
    if (matrix.size() == 0) return 0;
    // Of which the lower triangle is read.
    if (upper) matrix.transposeInPlace();
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(
        matrix, v ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
    if (eigen.info() != Eigen::Success) return 1;
    store(l, i, eigen.eigenvalues());
    if (v) store(v, i, eigen.eigenvectors());
    return 0;
  });
}

}  // namespace eg::kernel
