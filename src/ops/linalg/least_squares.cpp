#include "ops/linalg/least_squares.h"

#include <algorithm>
#include <limits>

#include "dispatch/factories.h"
#include "dispatch/transfer.h"
#include "ops/linalg/decomposition.h"
#include "ops/linalg/matrix_batch.h"
#include "ops/linalg/triangular.h"
#include "ops/matrix/matmul.h"
#include "ops/matrix/matrix_product.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/join.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

// Relative to the largest singular value, the limit below which one is a rounding error of zero.
double default_rtol(const Tensor& a) {
  const double epsilon = real_dtype(a.dtype()) == DType::kFloat32
                             ? std::numeric_limits<float>::epsilon()
                             : std::numeric_limits<double>::epsilon();
  return epsilon * static_cast<double>(std::max(a.size(-1), a.size(-2)));
}

// Which of the singular values, descending along the last dim, do not count as zero.
Var is_significant(const Tensor& s, double atol, double rtol) {
  if (s.numel() == 0) return s > 0;
  return (s > atol) & (s > rtol * Narrow::call(s, -1, 0, 1));
}

// The R and C for which the X that minimizes |A X - B| solves R X = C, for an A that is not wide
// and has independent columns.
struct TriangularSystem {
  Tensor r;
  Tensor c;
};

TriangularSystem triangular_system(const Tensor& a, const Tensor& b) {
  const std::int64_t n = a.size(-1);
  const std::int64_t columns = b.size(-1);
  const TensorList both{a, b};
  const bool is_recorded = should_record(both) || any_has_tangent(both);
  if (is_recorded || 2 * columns > n || batch_of(a) != batch_of(b)) {
    const TensorList qr = Qr::call(a);
    return {qr[1], matmul(adjoint(qr[0]), b)};
  }
  // The reflections of A apply to a few more columns, which takes less than to compute Q.
  const Tensor joined = Qr::call(Cat::call(both, -1), QrMode::kR)[1];
  const Tensor rows = Narrow::call(joined, -2, 0, n);
  return {Narrow::call(rows, -1, 0, n), Narrow::call(rows, -1, n, columns)};
}

// The sum of the squared magnitudes of the elements of each matrix, or of each column.
Tensor squares(const Var& a, const Dims& dims) { return Sum::call(real(a * conj(a)), dims); }

// True only if the least singular values of triangular matrices are above `rtol` times the largest:
// they are at least the reciprocal of the norm of the inverse, and at most the norm.
bool has_surely_full_rank(const Tensor& r, double rtol) {
  const Tensor triangle = detach(r);
  const Tensor eye = expand_batch(identity(r.size(-1), r), batch_of(r));
  const Var of_inverse = squares(SolveTriangular::call(triangle, eye, true), {-2, -1});
  const Var of_both = of_inverse * squares(triangle, {-2, -1});
  return is_true(All::call(of_both * (rtol * rtol) < 1));
}

}  // namespace

Tensor Pinv::call(const Tensor& input, std::optional<double> atol, std::optional<double> rtol,
                  bool hermitian) {
  check_matrix(input, "A", doc.name);
  if (hermitian) {
    check_square(input, "A", doc.name);
    return call((input + adjoint(input)) * 0.5, atol, rtol);
  }
  const double least = rtol.value_or(atol.value_or(0) > 0 ? 0 : default_rtol(input));
  const TensorList usv = Svd::call(detach(input), false);
  const Var s = usv[1];
  const Var inverse = where(is_significant(usv[1], atol.value_or(0), least), 1 / s, 0);
  const Var scaled = Unsqueeze::call(inverse, -1) * adjoint(usv[0]);
  const Tensor result = matmul(adjoint(usv[2]), scaled);
  return record<Pinv>(result, {input}, {}, {{input}, {result, true}});
}

// The formula of Golub and Pereyra; each form multiplies by the smaller side first.
GradList Pinv::backward(const Backward<Pinv>& b) {
  const Var a = b.saved(0);
  const Var p = b.saved(1);
  const Var pt = adjoint(p);
  const Var gt = adjoint(b.grad());
  if (a.tensor().size(-2) <= a.tensor().size(-1)) {
    const Var k = matmul(gt, p);
    const Var kpt = matmul(k, pt);
    return {matmul(matmul(pt, p), gt - matmul(k, a)) + kpt - matmul(matmul(a, p), kpt) -
            adjoint(matmul(p, k))};
  }
  const Var k = matmul(p, gt);
  const Var ptk = matmul(pt, k);
  return {matmul(matmul(gt - matmul(a, k), p), pt) + ptk - matmul(matmul(ptk, p), a) -
          adjoint(matmul(k, p))};
}

TensorList Lstsq::call(const Tensor& a, const Tensor& b, std::optional<double> rcond,
                       LstsqDriver driver) {
  check_matrix(a, "A", doc.name);
  check(b.ndim() >= 1, ErrorCode::kShapeMismatch, doc.name,
        "B must have at least 1 dimension, got a 0-dim tensor.");
  check(a.dtype() == b.dtype(), ErrorCode::kDtypeMismatch, doc.name,
        "A and B must have the same dtype, got ", a.dtype(), " and ", b.dtype(), '.');
  const std::int64_t missing = a.ndim() - b.ndim();
  check(missing == 0 || missing == 1, ErrorCode::kShapeMismatch, doc.name,
        "B must have as many dimensions as A or one less, got ", b.ndim(), " and ", a.ndim(), '.');
  const Tensor right = missing == 1 ? Unsqueeze::call(b, -1) : b;
  const std::int64_t m = a.size(-2);
  const std::int64_t n = a.size(-1);
  check(right.size(-2) == m, ErrorCode::kShapeMismatch, doc.name,
        "A and B must have the same number of rows, got ", m, " and ", right.size(-2), '.');

  const bool knows_rank = driver != LstsqDriver::kGels;
  const double least = rcond.value_or(default_rtol(a));
  const auto nothing = [&](DType dtype) { return Tensor::empty({0}, dtype, a.device()); };
  const DType of_sizes = real_dtype(a.dtype());
  TensorList parts{nothing(a.dtype()), nothing(of_sizes), nothing(DType::kInt64),
                   nothing(of_sizes)};
  bool has_full_rank = true;
  std::optional<TriangularSystem> system;
  if (knows_rank && m >= n) system = triangular_system(a, right);
  if (driver == LstsqDriver::kGelsy && system && has_surely_full_rank(system->r, least)) {
    parts[2] = full(batch_of(a), static_cast<double>(n), DType::kInt64, a.device());
  } else if (knows_rank) {
    const Tensor s = Svdvals::call(detach(a));
    const Tensor counts = is_significant(s, 0, least);
    parts[2] = Sum::call(counts, Dims{-1});
    has_full_rank = is_true(All::call(counts));
    if (driver != LstsqDriver::kGelsy) parts[3] = s;
  }
  // If the solution is unique, it can be computed without singular vectors.
  const Tensor solution = system && has_full_rank
                              ? SolveTriangular::call(system->r, system->c, true)
                              : matmul(Pinv::call(a, {}, knows_rank ? least : 0), right);
  if (m > n && driver != LstsqDriver::kGelsy && has_full_rank) {
    const Var residual = matmul(a, solution) - right;
    parts[1] = squares(residual, {-2});
  }
  parts[0] = missing == 1 ? Squeeze::call(solution, Dims{-1}) : solution;
  return parts;
}

}  // namespace eg
