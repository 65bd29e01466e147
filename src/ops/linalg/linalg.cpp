#include "ops/linalg/linalg.h"

#include <algorithm>

#include "dispatch/elementwise.h"
#include "dispatch/factories.h"
#include "dispatch/transfer.h"
#include "formulas/comparison.h"
#include "ops/complex/complex.h"
#include "ops/create/copy.h"
#include "ops/linalg/decomposition.h"
#include "ops/linalg/matrix_batch.h"
#include "ops/matrix/matmul.h"
#include "ops/matrix/matrix_product.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/join.h"
#include "ops/shape/rearrange.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

struct Determinants {
  Tensor det;
  Tensor sign;
  Tensor log_abs;
  bool is_singular;
};

Determinants determinants(const Tensor& input) {
  const Tensor a = packed(input);
  const auto make = [&](DType dtype) { return Tensor::empty(batch_of(a), dtype, a.device()); };
  Determinants result{make(a.dtype()), make(a.dtype()), make(real_dtype(a.dtype())), false};
  FirstBreakdown singular;
  run(kernel::Determinants{matrices(a), a.memory(), result.det.memory(), result.sign.memory(),
                           result.log_abs.memory(), singular.memory()});
  result.is_singular = singular.exists();
  return result;
}

Tensor inverse(const Tensor& input, bool allow_singular) {
  const Tensor a = packed(input);
  const Tensor result = Tensor::empty(a.shape(), a.dtype(), a.device());
  FirstBreakdown bad;
  run(kernel::Solve{matrices(a), a.size(-1), a.memory(), {}, result.memory(), bad.memory()});
  check(!bad.exists() || allow_singular, ErrorCode::kInvalidArgument, Inverse::doc.name,
        bad.location(a), "the matrix is singular: diagonal element ", bad.order,
        " of its factorization is zero.");
  return record<Inverse>(result, {input}, {}, {{result, true}});
}

// A number for each matrix, to be multiplied with it.
Var per_matrix(const Tensor& t) { return Unsqueeze::call(Unsqueeze::call(t, -1), -1); }

// The adjugate of matrices that are nearly zero: element (j, i) is the determinant with element
// (i, j) set to 1 and the rest of its row to 0. This needs no inverse.
Tensor small_adjugate(const Tensor& a) {
  const std::int64_t n = a.size(-1);
  const Tensor eye = identity(n, a);
  const Tensor rows = Unsqueeze::call(a, -3);
  const Var replacements = Unsqueeze::call(eye, 1);
  TensorList result;
  for (std::int64_t i = 0; i < n; ++i) {
    const Var is_row = Unsqueeze::call(eye.alias({n}, {n}, i), 1) != 0;
    result.push_back(Det::call(where(is_row, replacements, rows)));
  }
  return Stack::call(result, -1);
}

// The adjugate, det(A) A⁻¹ where there is an inverse, with derivatives of its own: those of the
// product cancel where A is nearly singular. Singular vectors of small singular values as
// additional rows and columns make a matrix B that has an inverse, of which the last block is W:
// det(A) = det(B) det(W).
Tensor adjugate(const Tensor& a) {
  constexpr double kSmall = 1e-3;
  const std::int64_t n = a.size(-1);
  if (n == 1) return full_like(a, 1);
  const TensorList usv = Svd::call(detach(a));
  const Tensor first = Narrow::call(usv[1], -1, 0, std::min<std::int64_t>(n, 1));
  const Tensor is_small = usv[1] <= kSmall * first;
  std::int64_t rank = n;
  while (rank > 0 && is_true(Any::call(Select::call(is_small, -1, rank - 1)))) --rank;
  if (rank == n) return per_matrix(Det::call(a)) * inverse(a, true);

  const std::int64_t rest = n - rank;
  const Var scale = per_matrix(Squeeze::call(where(first > 0, first, 1), Dims{-1}));
  const Tensor columns = scale * Narrow::call(usv[0], -1, rank, rest);
  const Tensor rows = scale * Narrow::call(usv[2], -2, rank, rest);
  const Tensor corner = full_like(empty_matrices(a, rest, rest), 0);
  const Tensor bordered =
      Cat::call({Cat::call({a, columns}, -1), Cat::call({rows, corner}, -1)}, -2);
  const Tensor inverted = inverse(bordered, true);
  const auto block = [&](std::int64_t row, std::int64_t column) {
    const Tensor part = Narrow::call(inverted, -2, row, row == 0 ? n : rest);
    return Narrow::call(part, -1, column, column == 0 ? n : rest);
  };
  const Tensor w = block(n, n);
  const Var outer = matmul(matmul(block(0, n), small_adjugate(w)), block(n, 0));
  const Var inner = per_matrix(Det::call(w)) * block(0, 0);
  return per_matrix(Det::call(bordered)) * (inner - outer);
}

// A X = B for operands with the same leading dims.
Tensor solve_matrices(const Tensor& a, const Tensor& b, bool allow_singular) {
  const Tensor left = packed(a);
  const Tensor right = packed(b);
  const Tensor result = Tensor::empty(b.shape(), b.dtype(), b.device());
  FirstBreakdown bad;
  run(kernel::Solve{matrices(left), b.size(-1), left.memory(), right.memory(), result.memory(),
                    bad.memory()});
  check(!bad.exists() || allow_singular, ErrorCode::kInvalidArgument, Solve::doc.name,
        bad.location(a), "the matrix is singular.");
  return record<Solve>(result, {a, b}, {}, {{a}, {result, true}});
}

}  // namespace

Tensor solve_unchecked(const Tensor& a, const Tensor& b) { return solve_matrices(a, b, true); }

Tensor Det::call(const Tensor& input) {
  check_square(input, "A", doc.name);
  const Determinants d = determinants(input);
  return record<Det>(d.det, {input}, {d.is_singular}, {{input}, {d.det, true}});
}

GradList Det::backward(const Backward<Det>& b) {
  const Tensor a = b.saved(0);
  const Tensor& g = b.grad();
  const Tensor inputs[] = {a, g};
  const bool is_subtle = b.attrs().is_singular || should_record(inputs) || any_has_tangent(inputs);
  if (is_subtle && is_true(All::call(eg::call<op::Isfinite>(detach(a)))))
    return {per_matrix(g) * adjoint(adjugate(a))};
  const Var scale = per_matrix(g * conj(b.saved(1)));
  return {scale * adjoint(inverse(a, true))};
}

TensorList Slogdet::call(const Tensor& input) {
  check_square(input, "A", doc.name);
  const Determinants d = determinants(input);
  const TensorList outputs{d.sign, d.log_abs};
  record<Slogdet>(outputs, std::span(&input, 1), {}, {{input}, {d.sign, true}});
  return outputs;
}

// Between singular matrices the sign of a real determinant is constant. That of a complex one
// follows the imaginary part of the logarithm.
GradList Slogdet::backward(const Backward<Slogdet>& b) {
  const Tensor a = b.saved(0);
  const bool turns = is_complex(a.dtype()) && b.grad(0).defined();
  if (!b.grad(1).defined() && !turns) return {full(a.shape(), 0, a.dtype(), a.device())};
  Tensor scale = b.grad(1);
  if (turns) {
    const Tensor turn = Imag::call(conj(b.saved(1)) * b.grad(0));
    const Tensor re = scale.defined() ? scale : full(turn.shape(), 0, turn.dtype(), turn.device());
    scale = ToComplex::call(re, turn);
  }
  return {per_matrix(scale) * adjoint(inverse(a, true))};
}

Tensor Inverse::call(const Tensor& input) {
  check_square(input, "A", doc.name);
  return inverse(input, false);
}

GradList Inverse::backward(const Backward<Inverse>& b) {
  const Tensor t = adjoint(b.saved(0));
  return {-matmul(matmul(t, b.grad()), t)};
}

Tensor Cholesky::call(const Tensor& input, bool upper) {
  check_square(input, "A", doc.name);
  if (upper) return adjoint(call(adjoint(input)));
  const Tensor a = packed(input);
  const Tensor result = Tensor::empty(a.shape(), a.dtype(), a.device());
  FirstBreakdown bad;
  run(kernel::Cholesky{matrices(a), a.memory(), result.memory(), bad.memory()});
  bad.check_finite(a, doc.name);
  check(!bad.exists(), ErrorCode::kInvalidArgument, doc.name, bad.location(a),
        "the matrix is not positive definite: its leading minor of order ", bad.order,
        " is not positive.");
  return record<Cholesky>(result, {input}, {}, {{result, true}});
}

// L⁻ᴴ S L⁻¹, where S = (T + Tᴴ) / 2 for the lower triangle T of Lᴴ g, its diagonal halved.
GradList Cholesky::backward(const Backward<Cholesky>& b) {
  const Tensor lh = adjoint(b.saved(0));
  const Tensor product = matmul(lh, b.grad());
  const Var lower = (Tril::call(product) + Tril::call(product, -1)) * 0.5;
  const Tensor symmetric = (lower + adjoint(lower)) * 0.5;
  const Tensor left = SolveTriangular::call(lh, symmetric, true);
  return {SolveTriangular::call(lh, adjoint(left), true)};
}

Tensor Solve::call(const Tensor& a, const Tensor& b, bool left) {
  check_square(a, "A", doc.name);
  check(a.dtype() == b.dtype(), ErrorCode::kDtypeMismatch, doc.name,
        "A and B must have the same dtype, got ", a.dtype(), " and ", b.dtype(), '.');
  check_same_device(doc.name, a.device(), b.device());
  Shape vectors = a.shape();
  vectors.pop_back();
  const bool is_vector = b.ndim() == 1 || b.shape() == vectors;
  check(left || !is_vector, ErrorCode::kInvalidArgument, doc.name,
        "a vector B requires left: true. For left: false, pass a matrix of one row.");
  const Tensor matrix = is_vector ? Unsqueeze::call(b, -1) : b;
  check(matrix.ndim() >= 2, ErrorCode::kShapeMismatch, doc.name,
        "B must be a vector or have at least 2 dimensions, got a 0-dim tensor.");
  check(a.size(-1) == matrix.size(left ? -2 : -1), ErrorCode::kShapeMismatch, doc.name,
        "the sizes of A and B do not match in ", left ? "AX = B" : "XA = B", ", got ", a.size(-2),
        'x', a.size(-1), " and ", matrix.size(-2), 'x', matrix.size(-1), '.');
  const Shape batch = broadcast_shapes(batch_of(a), batch_of(matrix), doc.name);
  const Tensor wide_a = expand_batch(a, batch);
  const Tensor wide_b = expand_batch(matrix, batch);
  if (!left) {
    return Transpose::call(
        solve_matrices(Transpose::call(wide_a, -2, -1), Transpose::call(wide_b, -2, -1), false), -2,
        -1);
  }
  const Tensor result = solve_matrices(wide_a, wide_b, false);
  return is_vector ? Squeeze::call(result, Dims{-1}) : result;
}

GradList Solve::backward(const Backward<Solve>& b) {
  const Tensor grad_b = solve_unchecked(adjoint(b.saved(0)), b.grad());
  GradList grads(2);
  if (b.needs(1)) grads[1] = grad_b;
  if (b.needs(0)) grads[0] = -matmul(grad_b, adjoint(b.saved(1)));
  return grads;
}

Tensor Kron::call(const Tensor& input, const Tensor& other) {
  const std::size_t ndim = std::max(input.shape().size(), other.shape().size());
  Shape left;
  Shape right;
  Shape result;
  for (std::size_t d = 0; d < ndim; ++d) {
    const auto size = [&](const Tensor& t) {
      const std::size_t missing = ndim - t.shape().size();
      return d < missing ? 1 : t.shape()[d - missing];
    };
    left.push_back(size(input));
    left.push_back(1);
    right.push_back(1);
    right.push_back(size(other));
    result.push_back(size(input) * size(other));
  }
  const Var product = Reshape::call(input, left) * Reshape::call(other, right);
  return Reshape::call(product, result);
}

Tensor Cross::call(const Tensor& input, const Tensor& other, std::int64_t dim) {
  check(input.ndim() == other.ndim(), ErrorCode::kShapeMismatch, doc.name,
        "the inputs must have the same number of dimensions, got ", input.ndim(), " and ",
        other.ndim(), '.');
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  check(input.ndim() > 0 && input.size(d) == 3 && other.size(d) == 3, ErrorCode::kShapeMismatch,
        doc.name, "dimension ", dim, " must have size 3, got shapes ", input.shape(), " and ",
        other.shape(), '.');
  const auto shifted = [&](const Tensor& t, std::int64_t by) -> Var {
    return Roll::call(t, {-by}, Dims{d});
  };
  return shifted(input, 1) * shifted(other, 2) - shifted(input, 2) * shifted(other, 1);
}

}  // namespace eg
