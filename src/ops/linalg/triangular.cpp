#include "ops/linalg/triangular.h"

#include <algorithm>

#include "dispatch/factories.h"
#include "ops/create/copy.h"
#include "ops/linalg/matrix_batch.h"
#include "ops/matrix/matmul.h"
#include "ops/matrix/matrix_product.h"
#include "ops/shape/join.h"
#include "ops/shape/rearrange.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

Tensor solve_from_left(const Tensor& a, const Tensor& b, bool upper, bool unit) {
  const Tensor left = packed(a);
  const Tensor right = packed(b);
  const Tensor result = Tensor::empty(b.shape(), b.dtype(), b.device());
  run(kernel::SolveTriangular{matrices(left), b.size(-1), upper, unit, left.memory(),
                              right.memory(), result.memory()});
  return record<SolveTriangular>(result, {a, b}, {upper, unit}, {{a}, {result, true}});
}

// The same for one triangular matrix and a batch of right-hand sides, whose columns are joined into
// one matrix.
Tensor solve_for_batch(const Tensor& a, const Tensor& b, bool upper, bool unit) {
  const std::int64_t n = b.size(-2);
  const Tensor rows = Movedim::call(b, Dims{-2}, Dims{0});
  const Tensor solved = solve_from_left(Reshape::call(a, {n, n}),
                                        Reshape::call(rows, {n, b.numel() / n}), upper, unit);
  return Movedim::call(View::call(solved, rows.shape()), Dims{0}, Dims{-2});
}

Var lower_part(const Var& t) { return Tril::call(t, -1); }
Var upper_part(const Var& t) { return Triu::call(t); }

struct Factors {
  Tensor lu;
  Tensor p;
  Tensor pivots;
};

Factors factorize(const Tensor& input, bool pivot, bool allow_singular, std::string_view op) {
  check_matrix(input, "A", op);
  check(pivot, ErrorCode::kInvalidArgument, op, "pivot: false is not supported.");
  const Tensor a = packed(input);
  Shape pivots = batch_of(a);
  pivots.push_back(std::min(a.size(-2), a.size(-1)));
  const Factors f{Tensor::empty(a.shape(), a.dtype(), a.device()),
                  empty_matrices(a, a.size(-2), a.size(-2)),
                  Tensor::empty(pivots, DType::kInt64, a.device())};
  FirstBreakdown bad;
  run(kernel::Lu{matrices(a), a.memory(), f.lu.memory(), f.p.memory(), f.pivots.memory(),
                 bad.memory()});
  check(!bad.exists() || allow_singular, ErrorCode::kInvalidArgument, op, bad.location(a),
        "the matrix is singular: U[", bad.order, ',', bad.order, "] is zero.");
  record<LuFactor>(f.lu, {input}, {}, {{f.lu, true}, {f.p}});
  return f;
}

}  // namespace

Tensor SolveTriangular::call(const Tensor& a, const Tensor& b, bool upper, bool left,
                             bool unitriangular) {
  check_square(a, "A", doc.name);
  check_matrix(b, "B", doc.name);
  check(a.dtype() == b.dtype(), ErrorCode::kDtypeMismatch, doc.name,
        "A and B must have the same dtype, got ", a.dtype(), " and ", b.dtype(), '.');
  check_same_device(doc.name, a.device(), b.device());
  check(a.size(-1) == b.size(left ? -2 : -1), ErrorCode::kShapeMismatch, doc.name,
        "the sizes of A and B do not match in ", left ? "AX = B" : "XA = B", ", got ", a.size(-2),
        'x', a.size(-1), " and ", b.size(-2), 'x', b.size(-1), '.');
  if (!left) return transposed(call(transposed(a), transposed(b), !upper, true, unitriangular));
  const Shape batch = broadcast_shapes(batch_of(a), batch_of(b), doc.name);
  const Tensor right = expand_batch(b, batch);
  if (numel(batch_of(a)) == 1 && numel(batch) > 1 && a.numel() > 0)
    return solve_for_batch(a, right, upper, unitriangular);
  return solve_from_left(expand_batch(a, batch), right, upper, unitriangular);
}

GradList SolveTriangular::backward(const Backward<SolveTriangular>& b) {
  const auto [upper, unit] = b.attrs();
  const Tensor grad_b = solve_from_left(adjoint(b.saved(0)), b.grad(), !upper, unit);
  GradList grads(2);
  if (b.needs(1)) grads[1] = grad_b;
  if (b.needs(0)) {
    const Tensor grad_a = -matmul(grad_b, adjoint(b.saved(1)));
    const std::int64_t beside = unit ? 1 : 0;
    grads[0] = upper ? Triu::call(grad_a, beside) : Tril::call(grad_a, -beside);
  }
  return grads;
}

TensorList LuFactor::call(const Tensor& a, bool pivot) {
  const Factors f = factorize(a, pivot, false, doc.name);
  return {f.lu, ToDType::call(f.pivots, DType::kInt32)};
}

// The gradient of a square part of A follows from the square parts of L and U; that of the columns
// beside it, or the rows below it, is solved with them.
GradList LuFactor::backward(const Backward<LuFactor>& b) {
  const Tensor lu = b.saved(0);
  const Tensor p = b.saved(1);
  const std::int64_t m = lu.size(-2);
  const std::int64_t n = lu.size(-1);
  const std::int64_t k = std::min(m, n);
  const auto square = [&](const Tensor& t) -> Var {
    return Narrow::call(Narrow::call(t, -2, 0, k), -1, 0, k);
  };
  const auto beside = [&](const Tensor& t) -> Var { return Narrow::call(t, -1, k, n - k); };
  const auto below = [&](const Tensor& t) -> Var { return Narrow::call(t, -2, k, m - k); };
  // L⁻ᴴ X, and X U⁻ᴴ; the other triangle is not read.
  const Tensor factors = square(lu);
  const auto over_l = [&](const Var& x) -> Var {
    return solve_from_left(adjoint(factors), x, true, true);
  };
  const auto over_u = [&](const Var& x) -> Var {
    return adjoint(solve_from_left(factors, adjoint(x), true, false));
  };
  const Var l = lower_part(factors) + identity(k, lu);
  const Var u = upper_part(factors);
  const Var g = square(b.grad());
  Var of_l = matmul(adjoint(l), lower_part(g));
  Var of_u = matmul(upper_part(g), adjoint(u));
  if (n > m) of_l = of_l - matmul(beside(b.grad()), adjoint(beside(lu)));
  if (m > n) of_u = of_u - matmul(adjoint(below(lu)), below(b.grad()));
  Tensor grad = over_u(over_l(lower_part(of_l) + upper_part(of_u)));
  if (n > m) grad = Cat::call({grad, over_l(beside(b.grad()))}, -1);
  if (m > n) grad = Cat::call({grad, over_u(below(b.grad()))}, -2);
  return {matmul(p, grad)};
}

TensorList Lu::call(const Tensor& a, bool pivot) {
  const Factors f = factorize(a, pivot, true, doc.name);
  const std::int64_t m = a.size(-2);
  const std::int64_t k = f.pivots.size(-1);
  const Var ones = Narrow::call(identity(m, f.lu), -1, 0, k);
  const Var l = lower_part(Narrow::call(f.lu, -1, 0, k)) + ones;
  return {f.p, l, upper_part(Narrow::call(f.lu, -2, 0, k))};
}

}  // namespace eg
