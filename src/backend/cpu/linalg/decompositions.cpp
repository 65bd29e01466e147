// By Eigen: QR by Householder's reflections, eigenvalues by implicit QR steps on a tridiagonal
// matrix. Singular values are those of a square matrix (square_svd.h).

#include "kernels/decompositions.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/linalg/eigen_batch.h"
#include "backend/cpu/linalg/square_svd.h"

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
  const std::int64_t rows = std::max(batch.rows, batch.columns);
  const std::int64_t columns = std::min(batch.rows, batch.columns);
  const bool is_wide = batch.rows < batch.columns;
  const bool vectors = u || vh;
  const std::int64_t work = 10 * rows * columns * columns;
  cpu::for_each_matrix(batch.count, work, breakdown, [&](std::int64_t i) {
    Matrix matrix = load(batch, a, i);
    if (!matrix.allFinite()) return 1;
    Matrix left;
    Matrix right;
    if (vectors) {
      left = Matrix::Identity(index(rows), index(full ? rows : columns));
      right.resize(index(columns), index(columns));
    }
    if (columns > 0) {
      if (is_wide) matrix.transposeInPlace();
      const double scale = cpu::magnitude(matrix);
      Matrix square = matrix / scale;
      // What is not square becomes so by reflections first.
      Eigen::HouseholderQR<Matrix> qr;
      if (rows > columns) {
        qr.compute(square);
        square = qr.matrixQR().topRows(columns).triangularView<Eigen::Upper>();
      }
      Matrix values(index(columns), 1);
      Matrix inner(right.rows(), right.cols());
      if (!cpu::square_svd(columns, square.data(), values.data(), inner.data(), right.data()))
        return 1;
      store(s, i, values * scale);
      if (vectors) {
        left.topLeftCorner(index(columns), index(columns)) = inner;
        if (rows > columns) left.applyOnTheLeft(qr.householderQ());
      }
    }
    if (!vectors) return 0;
    store(u, i, is_wide ? right : left);
    store(vh, i, (is_wide ? left : right).transpose());
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
