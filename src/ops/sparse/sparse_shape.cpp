#include "ops/sparse/sparse_shape.h"

#include <algorithm>
#include <vector>

#include "dispatch/factories.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "ops/sparse/sparse.h"
#include "ops/sparse/sparse_parts.h"

namespace eg {

Tensor transpose_sparse(const Tensor& t, std::int64_t dim0, std::int64_t dim1) {
  const auto a = static_cast<std::size_t>(wrap_dim(dim0, t.ndim(), "transpose"));
  const auto b = static_cast<std::size_t>(wrap_dim(dim1, t.ndim(), "transpose"));
  const Pieces pieces(t);
  const auto dims = static_cast<std::size_t>(pieces.pattern->sparse_dim());
  if (a == b) return t;
  check(a < dims && b < dims, ErrorCode::kInvalidArgument, "transpose",
        "the dense dimensions of a sparse tensor cannot be exchanged. Use its toDense().");
  TensorList coordinate = Unbind::call(coordinates(*pieces.pattern), 0);
  std::swap(coordinate[a], coordinate[b]);
  Shape shape = pieces.shape;
  std::swap(shape[a], shape[b]);
  const Tensor result = with_values(
      shape, coo_pattern(Stack::call(coordinate), /*is_coalesced=*/false), pieces.values);
  return layout(t) == Layout::kSparseCsr ? to_csr(result) : result;
}

Tensor cat_sparse(const TensorList& tensors, std::int64_t dim) {
  constexpr std::string_view kName = "cat";
  const std::int64_t ndim = tensors[0].ndim();
  const auto d = static_cast<std::size_t>(wrap_dim(dim, ndim, kName));
  TensorList indices;
  TensorList values;
  Shape shape = tensors[0].shape();
  shape[d] = 0;
  bool all_csr = true;
  for (const Tensor& t : tensors) {
    check(t.is_sparse() && t.ndim() == ndim, ErrorCode::kInvalidArgument, kName,
          "a sparse tensor can be joined with sparse tensors of as many dimensions only. Use "
          "toDense().");
    const Pieces pieces(t);
    const auto sparse = static_cast<std::size_t>(pieces.pattern->sparse_dim());
    check(
        d < sparse && (indices.empty() || indices[0].size(0) == static_cast<std::int64_t>(sparse)),
        ErrorCode::kInvalidArgument, kName, "expected tensors of the same sparseDim above ", d,
        ". Use toDense().");
    for (std::size_t k = 0; k < shape.size(); ++k) {
      check(k == d || t.shape()[k] == shape[k], ErrorCode::kShapeMismatch, kName,
            "sizes must be equal except in dimension ", d, ", got ", t.shape(), " and ",
            tensors[0].shape(), '.');
    }
    TensorList coordinate = Unbind::call(coordinates(*pieces.pattern), 0);
    coordinate[d] = call<op::Add>(coordinate[d], Operand(Scalar(shape[d])));
    indices.push_back(Stack::call(coordinate));
    values.push_back(pieces.values);
    shape[d] += t.shape()[d];
    all_csr = all_csr && layout(t) == Layout::kSparseCsr;
  }
  const Tensor result = with_values(
      shape, coo_pattern(Cat::call(indices, 1), /*is_coalesced=*/false), Cat::call(values, 0));
  return all_csr ? to_csr(result) : result;
}

Tensor sum_sparse(const Tensor& t, const std::optional<Dims>& dim, bool keepdim,
                  std::optional<DType> dtype) {
  const Pieces pieces(t);
  const std::size_t sparse = static_cast<std::size_t>(pieces.pattern->sparse_dim());
  std::vector<bool> is_summed(pieces.shape.size(), !dim.has_value() || dim->empty());
  if (dim.has_value()) {
    for (const std::int64_t d : *dim) {
      const auto at = static_cast<std::size_t>(wrap_dim(d, t.ndim(), "sum"));
      check(!is_summed[at] || dim->empty(), ErrorCode::kInvalidArgument, "sum", "dimension ", at,
            " occurs several times in dim.");
      is_summed[at] = true;
    }
  }
  // The dense dimensions of the values, after the one that counts them.
  Dims of_values;
  for (std::size_t d = sparse; d < is_summed.size(); ++d)
    if (is_summed[d]) of_values.push_back(static_cast<std::int64_t>(d - sparse + 1));
  Tensor values =
      of_values.empty() ? pieces.values : Sum::call(pieces.values, of_values, keepdim, dtype);
  const bool is_counted = is_integral(values.dtype()) && !dtype.has_value();
  values = ToDType::call(values, is_counted ? DType::kInt64 : dtype.value_or(values.dtype()));
  Shape shape;
  TensorList left;
  const TensorList coordinate = Unbind::call(coordinates(*pieces.pattern), 0);
  for (std::size_t d = 0; d < is_summed.size(); ++d) {
    if (!is_summed[d] || keepdim) shape.push_back(is_summed[d] ? 1 : pieces.shape[d]);
    if (d >= sparse || (is_summed[d] && !keepdim)) continue;
    left.push_back(is_summed[d] ? full_like(coordinate[d], 0) : coordinate[d]);
  }
  const bool all_sparse =
      std::all_of(is_summed.begin(), is_summed.begin() + static_cast<std::ptrdiff_t>(sparse),
                  [](bool b) { return b; });
  if (all_sparse)
    return Reshape::call(Sum::call(values, Dims{0}, false, dtype),
                         Dims(shape.begin(), shape.end()));
  return Coalesce::call(
      with_values(shape, coo_pattern(Stack::call(left), /*is_coalesced=*/false), values));
}

}  // namespace eg
