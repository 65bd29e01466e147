#pragma once

// QR by Householder's reflections. T is float or double.

#include <cstdint>
#include <vector>

namespace eg::cpu {

/// A matrix of zeros, column by column. Columns are whole vectors, with zeros past the end.
template <class T>
class Columns {
 public:
  Columns(std::int64_t rows, std::int64_t columns);

  T* column(std::int64_t j) { return values_.data() + j * height_; }
  const T* column(std::int64_t j) const { return values_.data() + j * height_; }
  T& operator()(std::int64_t i, std::int64_t j) { return column(j)[i]; }
  const T& operator()(std::int64_t i, std::int64_t j) const { return column(j)[i]; }

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  /// The distance from column to column.
  std::int64_t height() const { return height_; }

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t height_;
  std::vector<T> values_;
};

/// A = Q R with LAPACK's signs. The squares of A's elements must not overflow.
template <class T>
class Householder {
 public:
  explicit Householder(Columns<T> a);

  /// R, of which only what stands on and above the diagonal is to be read.
  const Columns<T>& r() const { return a_; }
  /// x becomes Q x; `is_identity` says that it is the identity, or its first columns.
  void apply(Columns<T>& x, bool is_identity) const;

 private:
  const T* load(std::int64_t k, std::vector<T>& v) const;

  Columns<T> a_;  ///< R, and below the diagonal the reflections
  std::vector<T> heads_;
  std::vector<T> factors_;
};

}  // namespace eg::cpu
