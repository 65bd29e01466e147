#include "ops/sparse/sparse_product.h"

#include "dispatch/factories.h"
#include "dispatch/function_op.h"
#include "dispatch/transfer.h"
#include "dispatch/var.h"
#include "kernels/sparse.h"
#include "ops/complex/complex.h"
#include "ops/index/index_args.h"
#include "ops/matrix/matrix_product.h"
#include "ops/reduce/scan.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "ops/sparse/sparse.h"
#include "ops/sparse/sparse_parts.h"
#include "ops/sparse/sparse_shape.h"

namespace eg {
namespace {

// A @ dense, or the transpose of A @ dense, for the values of A.
struct CsrTimesDense {
  static constexpr op::Doc doc{"sparse_mm", "A sparse matrix times a dense one."};
  struct Attrs {
    CsrMatrix matrix;
    bool transposed;
  };
  static constexpr std::array<std::string_view, 2> saved_names{"values", "dense"};
  static Tensor call(const CsrMatrix& matrix, const Tensor& values, const Tensor& dense,
                     bool transposed) {
    const Shape shape{matrix.shape[transposed ? 1 : 0], dense.size(1)};
    const Tensor out = transposed ? full(shape, 0, dense.dtype(), dense.device())
                                  : Tensor::empty(shape, dense.dtype(), dense.device());
    run(kernel::CsrProduct{matrix.positions(), transposed, dense.size(1), packed(values).memory(),
                           packed(dense).memory(), out.memory()});
    return record<CsrTimesDense>(out, {values, dense}, {matrix, transposed},
                                 {save_beside(values, dense), save_beside(dense, values)});
  }
  static GradList backward(const Backward<CsrTimesDense>& b);
};

// The elements of left @ transposed(right) at the positions of a matrix.
struct Sampled {
  static constexpr op::Doc doc{"sampled_addmm", "Chosen elements of a product."};
  using Attrs = CsrMatrix;
  static constexpr std::array<std::string_view, 2> saved_names{"left", "right"};
  static Tensor call(const CsrMatrix& matrix, const Tensor& left, const Tensor& right) {
    const Tensor out = Tensor::empty({matrix.pattern->nnz()}, left.dtype(), left.device());
    run(kernel::SampledProduct{matrix.positions(), left.size(1), packed(left).memory(),
                               packed(right).memory(), out.memory()});
    return record<Sampled>(out, {left, right}, matrix,
                           {save_beside(left, right), save_beside(right, left)});
  }
  static GradList backward(const Backward<Sampled>& b) {
    GradList grads(2);
    if (b.needs(0))
      grads[0] = CsrTimesDense::call(b.attrs(), b.grad(), Conj::call(b.saved(1)), false);
    if (b.needs(1))
      grads[1] = CsrTimesDense::call(b.attrs(), b.grad(), Conj::call(b.saved(0)), true);
    return grads;
  }
};

GradList CsrTimesDense::backward(const Backward<CsrTimesDense>& b) {
  const auto& [matrix, transposed] = b.attrs();
  const Tensor& g = b.grad();
  GradList grads(2);
  if (b.needs(0)) {
    const Tensor dense = Conj::call(b.saved(1));
    grads[0] = transposed ? Sampled::call(matrix, dense, g) : Sampled::call(matrix, g, dense);
  }
  if (b.needs(1)) grads[1] = CsrTimesDense::call(matrix, Conj::call(b.saved(0)), g, !transposed);
  return grads;
}

// left @ right, for the values of both.
struct CsrTimesCsr {
  static constexpr op::Doc doc{"sparse_mm", "The values of a product of sparse matrices."};
  struct Attrs {
    CsrMatrix left;
    CsrMatrix right;
    CsrMatrix product;
  };
  static constexpr std::array<std::string_view, 2> saved_names{"left", "right"};
  static Tensor call(const Attrs& of, const Tensor& left, const Tensor& right) {
    const Tensor out = Tensor::empty({of.product.pattern->nnz()}, left.dtype(), left.device());
    const Tensor& columns = of.product.pattern->indices;
    run(kernel::SparseProduct{of.left.positions(), of.right.positions(), packed(left).memory(),
                              packed(right).memory(), of.product.pattern->row_starts.memory(),
                              columns.memory(), out.memory()});
    return record<CsrTimesCsr>(out, {left, right}, of,
                               {save_beside(left, right), save_beside(right, left)});
  }
  static GradList backward(const Backward<CsrTimesCsr>& b) {
    const auto& [left, right, product] = b.attrs();
    if (!ops_are_differentiated()) return fused_gradients(b);
    const Tensor g = with_values(product.shape, product.pattern, b.grad());
    const auto adjoint = [](const CsrMatrix& of, const Tensor& values) {
      return transpose_sparse(with_values(of.shape, of.pattern, Conj::call(values)), 0, 1);
    };
    GradList grads(2);
    if (b.needs(0))
      grads[0] = values_at(sparse_product(g, adjoint(right, b.saved(1))), *left.pattern);
    if (b.needs(1))
      grads[1] = values_at(sparse_product(adjoint(left, b.saved(0)), g), *right.pattern);
    return grads;
  }
  // Without the elements of those products that are not wanted.
  static GradList fused_gradients(const Backward<CsrTimesCsr>& b) {
    const auto& [left, right, product] = b.attrs();
    const Tensor grad = packed(b.grad());
    // A factor is only saved for the gradient of the other.
    const Tensor of_left = b.needs(1) ? packed(Conj::call(b.saved(0))) : grad;
    const Tensor of_right = b.needs(0) ? packed(Conj::call(b.saved(1))) : grad;
    GradList grads(2);
    kernel::OptionalOut left_grad;
    kernel::OptionalOut right_grad;
    if (b.needs(0)) {
      grads[0] = Tensor::empty({left.pattern->nnz()}, grad.dtype(), grad.device());
      left_grad = grads[0].memory();
    }
    if (b.needs(1)) {
      grads[1] = full({right.pattern->nnz()}, 0, grad.dtype(), grad.device());
      right_grad = grads[1].memory();
    }
    run(kernel::SparseProductGradients{left.positions(), right.positions(), product.positions(),
                                       of_left.memory(), of_right.memory(), grad.memory(),
                                       left_grad, right_grad});
    return grads;
  }
};

CsrMatrix pattern_of_product(const CsrMatrix& left, const CsrMatrix& right) {
  const std::int64_t rows = left.shape[0];
  const Device device = left.pattern->indices.device();
  const Tensor counts = Tensor::empty({rows}, DType::kInt64, device);
  run(kernel::SparseProductCounts{left.positions(), right.positions(), counts.memory()});
  const Tensor none = full({1}, 0, DType::kInt64, device);
  const Tensor starts = Cat::call({none, Cumsum::call(counts, 0)}, 0);
  const std::int64_t nnz = index_values(on_host(Narrow::call(starts, 0, rows, 1))).front();
  const Tensor columns = Tensor::empty({nnz}, DType::kInt64, device);
  return {{rows, right.shape[1]}, csr_pattern(columns, starts)};
}

Tensor product_of_sparse(const Tensor& a, const Tensor& b) {
  const Pieces left(to_csr(a));
  const Pieces right(to_csr(b));
  const CsrMatrix of_left(left);
  const CsrMatrix of_right(right);
  const CsrMatrix product = pattern_of_product(of_left, of_right);
  const Tensor values = CsrTimesCsr::call({of_left, of_right, product}, left.values, right.values);
  const Tensor result = with_values(product.shape, product.pattern, values);
  const bool is_csr = layout(a) == Layout::kSparseCsr && layout(b) == Layout::kSparseCsr;
  return is_csr ? result : ToSparse::call(result);
}

}  // namespace

void check_fractional(const Tensor& t, std::string_view op) {
  check(is_differentiable(t.dtype()), ErrorCode::kDtypeMismatch, op,
        "sparse matrices are multiplied and solved with floating-point or complex numbers, got ",
        t.dtype(), '.');
}

Tensor sparse_product(const Tensor& a, const Tensor& b) {
  check_fractional(a, "sparse_mm");
  for (const Tensor& t : {a, b}) {
    check(!t.is_sparse() || t.sparse().values.ndim() == 1, ErrorCode::kShapeMismatch, "sparse_mm",
          "expected a sparse matrix of numbers, got one with dense dimensions.");
  }
  if (a.is_sparse() && b.is_sparse()) return product_of_sparse(a, b);
  if (a.is_sparse()) {
    const Pieces csr(to_csr(a));
    return CsrTimesDense::call(CsrMatrix(csr), csr.values, b, /*transposed=*/false);
  }
  const Pieces csr(to_csr(b));
  return transposed(
      CsrTimesDense::call(CsrMatrix(csr), csr.values, transposed(a), /*transposed=*/true));
}

Tensor sampled_values(const CsrMatrix& matrix, const Tensor& left, const Tensor& right) {
  return Sampled::call(matrix, left, right);
}

Tensor sampled_product(const Tensor& pattern_of, const Tensor& left, const Tensor& right) {
  check_fractional(left, "sparse_mm");
  const Pieces csr(to_csr(pattern_of));
  const Tensor values = sampled_values(CsrMatrix(csr), left, transposed(right));
  return with_values(csr.shape, csr.pattern, values);
}

}  // namespace eg
