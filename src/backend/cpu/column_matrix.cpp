#include "backend/cpu/column_matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

// The address of element (i, j) of row-major matrices.
template <class Visit>
void visit_elements(DType dtype, std::int64_t rows, std::int64_t columns, Visit&& visit) {
  visit_floating(dtype, "linalg", [&]<class T>() {
    for (std::int64_t j = 0; j < columns; ++j) {
      for (std::int64_t i = 0; i < rows; ++i)
        visit.template operator()<T>(i * columns + j, j * rows + i);
    }
  });
}

}  // namespace

ColumnMatrix ColumnMatrix::identity(std::int64_t rows, std::int64_t columns) {
  ColumnMatrix result(rows, columns);
  for (std::int64_t i = 0; i < std::min(rows, columns); ++i) result(i, i) = 1;
  return result;
}

ColumnMatrix ColumnMatrix::transposed() const {
  ColumnMatrix result(columns_, rows_);
  for (std::int64_t j = 0; j < columns_; ++j) {
    for (std::int64_t i = 0; i < rows_; ++i) result(j, i) = (*this)(i, j);
  }
  return result;
}

double ColumnMatrix::magnitude() const {
  double greatest = 0;
  for (const double x : data_) {
    if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
    greatest = std::max(greatest, std::abs(x));
  }
  return greatest == 0 ? 1 : std::exp2(std::ilogb(greatest));
}

void ColumnMatrix::scale(double factor) {
  for (double& x : data_) x *= factor;
}

ColumnMatrix load(const MatrixBatch& a, std::int64_t index) {
  ColumnMatrix result(a.rows, a.columns);
  const std::int64_t start = index * a.rows * a.columns;
  visit_elements(a.dtype, a.rows, a.columns, [&]<class T>(std::int64_t from, std::int64_t to) {
    result.data()[to] = static_cast<double>(static_cast<const T*>(a.data)[start + from]);
  });
  return result;
}

void store(DType dtype, void* data, std::int64_t index, const ColumnMatrix& value) {
  if (data == nullptr) return;
  const std::int64_t start = index * value.rows() * value.columns();
  visit_elements(dtype, value.rows(), value.columns(),
                 [&]<class T>(std::int64_t to, std::int64_t from) {
                   static_cast<T*>(data)[start + to] = static_cast<T>(value.data()[from]);
                 });
}

void store(DType dtype, void* data, std::int64_t index, const std::vector<double>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  for (std::int64_t i = 0; i < count; ++i)
    store(dtype, data, index * count + i, values[static_cast<std::size_t>(i)]);
}

void store(DType dtype, void* data, std::int64_t index, double value) {
  if (data == nullptr) return;
  visit_floating(dtype, "linalg",
                 [&]<class T>() { static_cast<T*>(data)[index] = static_cast<T>(value); });
}

Breakdown for_each_matrix(std::int64_t count, std::int64_t work,
                          const std::function<std::int64_t(std::int64_t)>& factorize) {
  std::vector<std::int64_t> bad(static_cast<std::size_t>(count));
  const std::int64_t grain = kMinElementsPerTask / std::max(std::int64_t{1}, work) + 1;
  parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) bad[static_cast<std::size_t>(i)] = factorize(i);
  });
  const auto first = std::find_if(bad.begin(), bad.end(), [](std::int64_t o) { return o != 0; });
  return first == bad.end() ? Breakdown{} : Breakdown{first - bad.begin(), *first};
}

}  // namespace eg::cpu
