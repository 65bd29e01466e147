#include "ops/sparse/sparse_product.h"

#include "dispatch/factories.h"
#include "dispatch/function_op.h"
#include "dispatch/var.h"
#include "kernels/sparse.h"
#include "ops/complex/complex.h"
#include "ops/index/index.h"
#include "ops/matrix/matrix_product.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "ops/sparse/sparse.h"
#include "ops/sparse/sparse_parts.h"

namespace eg {
namespace {

// The positions of a sparse matrix in CSR layout, and its size.
struct CsrMatrix {
  explicit CsrMatrix(const Pieces& pieces) : shape(pieces.shape), pattern(pieces.pattern) {}

  kernel::CsrPattern positions() const {
    return {shape[0], shape[1], pattern->row_starts.memory(), pattern->indices.memory()};
  }

  Shape shape;
  IntrusivePtr<SparsePattern> pattern;
};

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

void check_fractional(const Tensor& t) {
  check(is_differentiable(t.dtype()), ErrorCode::kDtypeMismatch, "sparse_mm",
        "products of sparse matrices need floating-point or complex numbers, got ", t.dtype(), '.');
}

// Each value of `a` is multiplied by the row of `b` that its column names.
Tensor product_of_sparse(const Tensor& a, const Tensor& b) {
  const Pieces left(Coalesce::call(a));
  const Pieces right(to_csr(b));
  const Tensor at = coordinates(*left.pattern);
  const Tensor column = Select::call(at, 0, 1);
  const Tensor& starts = right.pattern->row_starts;
  // For each pair of values: which value of `a`, and which of `b`.
  const auto [of_left, of_right] = pairs_with_ranges(
      IndexSelect::call(starts, 0, column), IndexSelect::call(starts, 0, shifted(column, 1)));
  const Tensor values = (Var(IndexSelect::call(left.values, 0, of_left)) *
                         Var(IndexSelect::call(right.values, 0, of_right)))
                            .tensor();
  const Tensor indices = Stack::call({IndexSelect::call(Select::call(at, 0, 0), 0, of_left),
                                      IndexSelect::call(right.pattern->indices, 0, of_right)});
  const Tensor product = Coalesce::call(
      with_values({a.size(0), b.size(1)}, coo_pattern(indices, /*is_coalesced=*/false), values));
  const bool is_csr = layout(a) == Layout::kSparseCsr && layout(b) == Layout::kSparseCsr;
  return is_csr ? to_csr(product) : product;
}

}  // namespace

Tensor sparse_product(const Tensor& a, const Tensor& b) {
  check_fractional(a);
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

Tensor sampled_product(const Tensor& pattern_of, const Tensor& left, const Tensor& right) {
  check_fractional(left);
  const Pieces csr(to_csr(pattern_of));
  const Tensor values = Sampled::call(CsrMatrix(csr), left, transposed(right));
  return with_values(csr.shape, csr.pattern, values);
}

}  // namespace eg
