#include "ops/linalg/decomposition.h"

#include <algorithm>

#include "dispatch/factories.h"
#include "dispatch/transfer.h"
#include "kernels/decompositions.h"
#include "ops/complex/complex.h"
#include "ops/create/copy.h"
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

Tensor nothing_like(const Tensor& t) { return Tensor::empty({0}, t.dtype(), t.device()); }

// A number for each column, or each row, of matrices, to be multiplied with them.
Var per_column(const Tensor& t) { return Unsqueeze::call(t, -2); }
Var per_row(const Tensor& t) { return Unsqueeze::call(t, -1); }

// A - Aᴴ.
Var skew(const Var& a) { return a - adjoint(a); }

// X R⁻ᴴ for an upper triangular R.
Var divide_by_adjoint(const Var& x, const Tensor& r) {
  return adjoint(solve_unchecked(r, adjoint(x)));
}

// Uninitialized real numbers, `count` for each matrix of a batch.
Tensor empty_numbers(const Tensor& matrices, std::int64_t count) {
  Shape shape = batch_of(matrices);
  shape.push_back(count);
  return Tensor::empty(shape, real_dtype(matrices.dtype()), matrices.device());
}

// A vector may be multiplied by any number of magnitude 1, and the loss must not depend on it: the
// imaginary part of its derivative, `diagonal`, must vanish. Not checked on a device, because that
// would mean waiting for it, nor while recording.
void check_phase(const Var& diagonal, std::string_view op, std::string_view vectors) {
  const Tensor t = detach(diagonal);
  if (!is_complex(t.dtype()) || !t.device().is_cpu() || recording() != nullptr) return;
  const Var size = abs(t);
  const Tensor depends = Any::call(abs(Imag::call(t)) > 1e-2 * (1 + size));
  check(!is_true(depends), ErrorCode::kNotDifferentiable, op,
        "the loss depends on the phase of the ", vectors,
        ", which is arbitrary for complex matrices, so the gradient is undefined.");
}

Var diagonal_of(const Var& a) { return Diagonal::call(a, 0, -2, -1); }

// True when results computed from `t` may be differentiated.
bool is_differentiated(const Tensor& t) {
  const std::span<const Tensor> inputs(&t, 1);
  return should_record(inputs) || any_has_tangent(inputs);
}

struct SvdParts {
  Tensor u;
  Tensor s;
  Tensor vh;
};

void check_converged(const FirstBreakdown& bad, const Tensor& a, std::string_view op) {
  bad.check_finite(a, op);
  check(!bad.exists(), ErrorCode::kInvalidArgument, op, bad.location(a),
        "the iteration did not converge.");
}

// Computes the decomposition without recording it.
SvdParts decompose(const Tensor& input, bool full, bool vectors, std::string_view op) {
  check_matrix(input, "A", op);
  const Tensor a = packed(input);
  const std::int64_t m = a.size(-2);
  const std::int64_t n = a.size(-1);
  const std::int64_t k = std::min(m, n);
  SvdParts parts;
  parts.s = empty_numbers(a, k);
  if (vectors) {
    parts.u = empty_matrices(a, m, full ? m : k);
    parts.vh = empty_matrices(a, full ? n : k, n);
  }
  FirstBreakdown bad;
  run(kernel::Svd{matrices(a), full, a.memory(), vectors ? parts.u.memory() : kernel::OptionalOut(),
                  parts.s.memory(), vectors ? parts.vh.memory() : kernel::OptionalOut(),
                  bad.memory()});
  check_converged(bad, a, op);
  return parts;
}

TensorList recorded_svd(const Tensor& a, bool full, std::string_view op) {
  const SvdParts parts = decompose(a, full, true, op);
  const TensorList outputs{parts.u, parts.s, parts.vh};
  record<Svd>(outputs, std::span(&a, 1), {}, {{parts.u, true}, {parts.s, true}, {parts.vh, true}});
  return outputs;
}

}  // namespace

TensorList Qr::call(const Tensor& input, QrMode mode) {
  check_matrix(input, "A", doc.name);
  const Tensor a = packed(input);
  const std::int64_t m = a.size(-2);
  const std::int64_t n = a.size(-1);
  const std::int64_t columns = mode == QrMode::kComplete ? m : std::min(m, n);
  const bool wants_q = mode != QrMode::kR;
  const Tensor q = wants_q ? empty_matrices(a, m, columns) : nothing_like(a);
  const Tensor r = empty_matrices(a, columns, n);
  run(kernel::Qr{matrices(a), columns, a.memory(), wants_q ? q.memory() : kernel::OptionalOut(),
                 r.memory()});
  const TensorList outputs{q, r};
  record<Qr>(outputs, std::span(&input, 1), {mode}, {{q, true}, {r, true}});
  return outputs;
}

// See https://arxiv.org/abs/2009.10071; for wide matrices R has columns beside its square part.
GradList Qr::backward(const Backward<Qr>& b) {
  check(b.attrs().mode != QrMode::kR, ErrorCode::kNotDifferentiable, doc.name,
        "mode 'r' is not differentiable, because the gradient needs Q. Use mode 'reduced'.");
  const Tensor q = b.saved(0);
  const Tensor r = b.saved(1);
  const std::int64_t m = q.size(-2);
  const std::int64_t n = r.size(-1);
  check(b.attrs().mode == QrMode::kReduced || m <= n, ErrorCode::kNotDifferentiable, doc.name,
        "mode 'complete' is not differentiable for a matrix with more rows than columns. Use mode "
        "'reduced'.");
  const Var grad_q = b.grad(0).defined() ? b.grad(0) : full_like(q, 0);
  const Var grad_r = b.grad(1).defined() ? b.grad(1) : full_like(r, 0);
  const Var inner = matmul(grad_r, adjoint(r)) - matmul(adjoint(q), grad_q);
  // The diagonal of R is real, so only the real part of the diagonal of `inner` counts.
  if (m >= n) {
    const Var strict = Triu::call(inner, 1);
    const Var own = identity(n, r) * per_column(real(diagonal_of(inner)));
    return {divide_by_adjoint(matmul(q, strict + adjoint(strict) + own) + grad_q, r)};
  }
  const Var turns = skew(-inner);
  const Var lower = Tril::call(turns - identity(m, r) * (turns * 0.5));
  const Tensor square = divide_by_adjoint(matmul(q, lower), Narrow::call(r, -1, 0, m));
  const Tensor rest = full_like(empty_matrices(r, m, n - m), 0);
  return {Cat::call({square, rest}, -1) + matmul(q, grad_r)};
}

TensorList Svd::call(const Tensor& a, bool full_matrices) {
  return recorded_svd(a, full_matrices, doc.name);
}

// The columns beyond the singular values are arbitrary and have no gradient.
GradList Svd::backward(const Backward<Svd>& b) {
  const Tensor s = b.saved(1);
  const std::int64_t k = s.size(-1);
  const auto first_columns = [&](const Tensor& t) { return Narrow::call(t, -1, 0, k); };
  const auto first_rows = [&](const Tensor& t) { return Narrow::call(t, -2, 0, k); };
  const Var u = first_columns(b.saved(0));
  const Var vh = first_rows(b.saved(2));
  const Tensor& grad_s = b.grad(1);
  const bool has_u = b.grad(0).defined();
  const bool has_vh = b.grad(2).defined();
  if (!has_u && !has_vh) return {matmul(u * per_column(grad_s), vh)};

  const Var eye = identity(k, s);
  const Var columns = per_column(s);
  const Var rows = per_row(s);
  Var inner = 0;
  const Var of_u = has_u ? skew(matmul(adjoint(u), first_columns(b.grad(0)))) : 0;
  const Var of_v = has_vh ? skew(matmul(vh, adjoint(first_rows(b.grad(2))))) : 0;
  if (is_complex(u.tensor().dtype()))
    check_phase(diagonal_of(of_u + of_v), doc.name, "singular vectors");
  if (has_u) inner = inner + of_u * columns;
  if (has_vh) inner = inner + rows * of_v;
  inner = inner / (columns * columns - rows * rows + eye);
  if (has_u && has_vh && is_complex(u.tensor().dtype())) inner = inner + eye * of_u / (2 * columns);
  if (grad_s.defined()) inner = inner + eye * per_column(grad_s);

  if (has_u && u.tensor().size(-2) > k) {
    const Var scaled = first_columns(b.grad(0)) / columns;
    const Var outside = scaled - matmul(u, matmul(adjoint(u), scaled));
    return {matmul(matmul(u, inner) + outside, vh)};
  }
  if (has_vh && vh.tensor().size(-1) > k) {
    const Var scaled = first_rows(b.grad(2)) / rows;
    const Var outside = scaled - matmul(matmul(scaled, adjoint(vh)), vh);
    return {matmul(u, matmul(inner, vh) + outside)};
  }
  return {matmul(matmul(u, inner), vh)};
}

Tensor Svdvals::call(const Tensor& a) {
  if (is_differentiated(a)) return recorded_svd(a, false, doc.name)[1];
  return decompose(a, false, false, doc.name).s;
}

namespace {

TensorList eigen(const Tensor& input, Triangle triangle, bool vectors, std::string_view op) {
  check_square(input, "A", op);
  const Tensor a = packed(input);
  const Tensor l = empty_numbers(a, a.size(-1));
  const Tensor v = vectors ? Tensor::empty(a.shape(), a.dtype(), a.device()) : nothing_like(a);
  FirstBreakdown bad;
  run(kernel::Eigh{matrices(a), triangle == Triangle::kUpper, a.memory(), l.memory(),
                   vectors ? v.memory() : kernel::OptionalOut(), bad.memory()});
  check_converged(bad, a, op);
  return {l, v};
}

TensorList recorded_eigen(const Tensor& a, Triangle triangle, std::string_view op) {
  TensorList outputs = eigen(a, triangle, true, op);
  record<Eigh>(outputs, std::span(&a, 1), {}, {{outputs[0], true}, {outputs[1], true}});
  return outputs;
}

}  // namespace

TensorList Eigh::call(const Tensor& a, Triangle uplo) { return recorded_eigen(a, uplo, doc.name); }

GradList Eigh::backward(const Backward<Eigh>& b) {
  const Tensor l = b.saved(0);
  const Var v = b.saved(1);
  const Tensor& grad_l = b.grad(0);
  if (!b.grad(1).defined()) return {matmul(v * per_column(grad_l), adjoint(v))};
  const Var eye = identity(l.size(-1), l);
  Var inner = skew(matmul(adjoint(v), b.grad(1))) * 0.5;
  check_phase(diagonal_of(inner), doc.name, "eigenvectors");
  inner = inner / (per_column(l) - per_row(l) + eye);
  if (grad_l.defined()) inner = inner + eye * per_column(grad_l);
  return {matmul(v, matmul(inner, adjoint(v)))};
}

Tensor Eigvalsh::call(const Tensor& a, Triangle uplo) {
  if (is_differentiated(a)) return recorded_eigen(a, uplo, doc.name)[0];
  return eigen(a, uplo, false, doc.name)[0];
}

namespace {

TensorList general_eigen(const Tensor& input, bool vectors, std::string_view op) {
  check_square(input, "A", op);
  const Tensor a = packed(input);
  const DType dtype = is_complex(a.dtype()) ? a.dtype() : complex_dtype(a.dtype());
  Shape shape = batch_of(a);
  shape.push_back(a.size(-1));
  const Tensor l = Tensor::empty(shape, dtype, a.device());
  const Tensor v = vectors ? Tensor::empty(a.shape(), dtype, a.device()) : nothing_like(l);
  FirstBreakdown bad;
  run(kernel::Eig{matrices(a), a.memory(), l.memory(), vectors ? v.memory() : kernel::OptionalOut(),
                  bad.memory()});
  check_converged(bad, a, op);
  return {l, v};
}

TensorList recorded_general_eigen(const Tensor& a, std::string_view op) {
  TensorList outputs = general_eigen(a, true, op);
  // Gradients are those of a complex matrix; the conversion passes on their real parts.
  const Tensor differentiated = is_complex(a.dtype()) || !is_differentiated(a)
                                    ? a
                                    : ToDType::call(a, complex_dtype(a.dtype()));
  record<Eig>(outputs, std::span(&differentiated, 1), {}, {{outputs[0], true}, {outputs[1], true}});
  return outputs;
}

}  // namespace

TensorList Eig::call(const Tensor& a) { return recorded_general_eigen(a, doc.name); }

// A = V diag(L) V⁻¹, where the columns of V have the length 1.
GradList Eig::backward(const Backward<Eig>& b) {
  const Tensor l = b.saved(0);
  const Var v = b.saved(1);
  const Tensor& grad_l = b.grad(0);
  const Var eye = identity(l.size(-1), l);
  const Var dual = adjoint(v);
  Var inner = 0;
  if (b.grad(1).defined()) {
    const Var turns = matmul(dual, b.grad(1));
    const Var own = diagonal_of(turns);
    check_phase(own, doc.name, "eigenvectors");
    const Var lengths = matmul(dual, v) * per_column(real(own));
    inner = (turns - lengths) / conj(per_column(l) - per_row(l) + eye);
  }
  if (grad_l.defined()) inner = inner + eye * per_column(grad_l);
  return {solve_unchecked(dual, matmul(inner, dual))};
}

Tensor Eigvals::call(const Tensor& a) {
  if (is_differentiated(a)) return recorded_general_eigen(a, doc.name)[0];
  return general_eigen(a, false, doc.name)[0];
}

Tensor BalanceRatios::call(const Tensor& input) {
  const Tensor a = packed(ToDType::call(detach(input), computed_dtype(input.dtype())));
  const Tensor ratios = Tensor::empty(a.shape(), real_dtype(a.dtype()), a.device());
  const DType dtype = real_dtype(input.dtype());
  // Ratios must be normal numbers.
  const std::int64_t most = dtype == DType::kFloat64 ? 500 : dtype == DType::kFloat16 ? 7 : 60;
  if (ratios.numel() > 0) run(kernel::Balance{matrices(a), most, a.memory(), ratios.memory()});
  return ToDType::call(ratios, dtype);
}

}  // namespace eg
