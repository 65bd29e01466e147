// Systems of equations with a sparse matrix.

#include "dispatch/factories.h"
#include "dispatch/function_op.h"
#include "dispatch/var.h"
#include "formulas/all.h"
#include "kernels/sparse.h"
#include "ops/complex/complex.h"
#include "ops/shape/view.h"
#include "ops/sparse/sparse.h"
#include "ops/sparse/sparse_parts.h"
#include "ops/sparse/sparse_product.h"

namespace eg {
namespace {

constexpr std::string_view kName = "spsolve";

// The x with A x = b, or with `adjoint` for its conjugate transpose, for the values of A.
struct CsrSolve {
  static constexpr op::Doc doc{"spsolve", "A solution of sparse equations."};
  struct Attrs {
    CsrMatrix matrix;
    bool adjoint;
  };
  static constexpr std::array<std::string_view, 2> saved_names{"values", "result"};
  static Tensor call(const Attrs& of, const Tensor& values, const Tensor& b) {
    const Tensor out = Tensor::empty(b.shape(), b.dtype(), b.device());
    std::int64_t is_singular = 0;
    run(kernel::SparseSolve{of.matrix.positions(), of.adjoint, b.size(1), packed(values).memory(),
                            packed(b).memory(), out.memory(), kernel::host_number(is_singular)});
    check(is_singular == 0, ErrorCode::kInvalidArgument, kName, "the matrix is singular.");
    return record<CsrSolve>(out, {values, b}, of, {{values}, {out, true}});
  }
  static GradList backward(const Backward<CsrSolve>& b) {
    const auto& [matrix, adjoint] = b.attrs();
    const Tensor of_right = call({matrix, !adjoint}, b.saved(0), b.grad());
    GradList grads(2);
    if (b.needs(0)) {
      // That of A is -of_right @ adjoint(x), at the positions of A only.
      const Tensor x = b.saved(1);
      const Tensor product = adjoint ? sampled_values(matrix, x, Conj::call(of_right))
                                     : sampled_values(matrix, of_right, Conj::call(x));
      grads[0] = eg::call<op::Neg>(product);
    }
    if (b.needs(1)) grads[1] = of_right;
    return grads;
  }
};

}  // namespace

Tensor SparseSolve::call(const Tensor& input, const Tensor& b) {
  check_sparse(input, kName, "input");
  check_dense(b, kName, "other");
  check(input.ndim() == 2 && input.sparse().values.ndim() == 1 && input.size(0) == input.size(1),
        ErrorCode::kShapeMismatch, kName, "expected a square sparse matrix of numbers, got shape ",
        input.shape(), '.');
  check((b.ndim() == 1 || b.ndim() == 2) && b.size(0) == input.size(0), ErrorCode::kShapeMismatch,
        kName, "other: expected a vector or matrix of ", input.size(0), " rows, got shape ",
        b.shape(), '.');
  check_fractional(input, kName);
  check(input.dtype() == b.dtype(), ErrorCode::kDtypeMismatch, kName,
        "input and other must have the same dtype, got ", input.dtype(), " and ", b.dtype(), '.');
  check_same_device(kName, input.device(), b.device());
  const Pieces csr(to_csr(input));
  const Tensor right = b.ndim() == 1 ? Unsqueeze::call(b, 1) : b;
  const Tensor x = CsrSolve::call({CsrMatrix(csr), false}, csr.values, right);
  return b.ndim() == 1 ? Squeeze::call(x, Dims{1}) : x;
}

}  // namespace eg
