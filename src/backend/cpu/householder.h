#pragma once

// Householder's reflections I - tau v vᵀ with v = (1, tail). Tails are kept in place of the zeros
// they make, as LAPACK keeps them.

#include <cstdint>
#include <vector>

#include "backend/cpu/column_matrix.h"

namespace eg::cpu {

/// The product of two columns.
double dot(const double* a, const double* b, std::int64_t n);
/// y += factor * x.
void add_multiple(double* y, double factor, const double* x, std::int64_t n);
/// [x y] [c -s; s c]: turns two columns in their plane.
void rotate(double* x, double* y, double c, double s, std::int64_t n);

/// Finds the reflection that takes x to (b, 0, ...), writes b and the tail over x and returns tau.
double make_reflection(double* x, std::int64_t n);
/// Reflects y. The first element of v is not read.
void reflect(const double* v, double tau, double* y, std::int64_t n);

/// A = Q R, where Q is a product of reflections.
class HouseholderQR {
 public:
  explicit HouseholderQR(ColumnMatrix a);

  /// The first rows of R.
  ColumnMatrix r(std::int64_t rows) const;
  /// Q b, for b with as many rows as A.
  ColumnMatrix times(ColumnMatrix b) const;

 private:
  ColumnMatrix a_;
  std::vector<double> taus_;
};

}  // namespace eg::cpu
