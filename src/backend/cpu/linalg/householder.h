#pragma once

// QR by Householder reflections. T is float or double.

#include <cstdint>
#include <vector>

namespace eg::cpu {

/// A column-major matrix, initially zero. Columns are padded with zeros to whole vectors.
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
  /// The distance between columns.
  std::int64_t height() const { return height_; }

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t height_;
  std::vector<T> values_;
};

/// A = Q R with LAPACK's signs. The squares of A's elements must not overflow, and what is far
/// smaller than the largest element of its column may be taken for zero.
template <class T>
class Householder {
 public:
  explicit Householder(Columns<T> a);

  /// R; only the part on and above the diagonal may be read.
  const Columns<T>& r() const { return a_; }
  /// Replaces x by Q x. `is_identity` states that x is the identity matrix, or its first columns.
  void apply(Columns<T>& x, bool is_identity) const;

 private:
  const T* load(std::int64_t k, std::vector<T>& v) const;

  Columns<T> a_;  ///< R, and below the diagonal the reflections
  std::vector<T> heads_;
  std::vector<T> factors_;
};

}  // namespace eg::cpu
