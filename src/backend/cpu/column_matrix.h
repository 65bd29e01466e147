#pragma once

// Matrices as factorisations want them: columns of doubles that lie one behind the other. Tensors
// hold them row by row in either floating dtype; load() and store() convert. One implementation, in
// double, serves both dtypes.

#include <cstdint>
#include <functional>
#include <vector>

#include "backend/cpu/linalg.h"

namespace eg::cpu {

class ColumnMatrix {
 public:
  ColumnMatrix() = default;
  /// Zeros.
  ColumnMatrix(std::int64_t rows, std::int64_t columns)
      : rows_(rows), columns_(columns), data_(static_cast<std::size_t>(rows * columns)) {}
  /// Ones on the diagonal.
  static ColumnMatrix identity(std::int64_t rows, std::int64_t columns);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  double* column(std::int64_t j) { return data_.data() + j * rows_; }
  const double* column(std::int64_t j) const { return data_.data() + j * rows_; }
  double& operator()(std::int64_t i, std::int64_t j) { return column(j)[i]; }
  double operator()(std::int64_t i, std::int64_t j) const { return column(j)[i]; }
  double* data() { return data_.data(); }
  const double* data() const { return data_.data(); }

  ColumnMatrix transposed() const;
  /// The power of two below the greatest magnitude, by which to divide so that squares neither
  /// overflow nor vanish; not a number when an element is not finite.
  double magnitude() const;
  void scale(double factor);

 private:
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::vector<double> data_;
};

/// Matrix `index` of a batch.
ColumnMatrix load(const MatrixBatch& a, std::int64_t index);
/// Writes matrix `index` of a batch of such matrices; null is nowhere.
void store(DType dtype, void* data, std::int64_t index, const ColumnMatrix& value);
/// Writes `values` as row `index`; null is nowhere.
void store(DType dtype, void* data, std::int64_t index, const std::vector<double>& values);
/// Writes number `index`.
void store(DType dtype, void* data, std::int64_t index, double value);

/// Runs `factorize(index)`, which returns the order of what it broke down at or 0, for all matrices
/// of a batch. `work` is about the number of operations each takes.
Breakdown for_each_matrix(std::int64_t count, std::int64_t work,
                          const std::function<std::int64_t(std::int64_t)>& factorize);

}  // namespace eg::cpu
