#include "ops/sparse/sparse_shape.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "dispatch/factories.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/index/index.h"
#include "ops/index/index_args.h"
#include "ops/index/order.h"
#include "ops/index/search.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "ops/sparse/sparse.h"
#include "ops/sparse/sparse_parts.h"

namespace eg {

Tensor transpose_sparse(const Tensor& t, std::int64_t dim0, std::int64_t dim1) {
  const std::int64_t a = wrap_dim(dim0, t.ndim(), "transpose");
  const std::int64_t b = wrap_dim(dim1, t.ndim(), "transpose");
  if (a == b) return t;
  Dims order(t.shape().size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(a)], order[static_cast<std::size_t>(b)]);
  return permute_sparse(t, order);
}

Tensor permute_sparse(const Tensor& t, const Dims& dims) {
  const Pieces pieces(t);
  const auto batch = static_cast<std::int64_t>(pieces.pattern->batch.size());
  const std::int64_t sparse = pieces.pattern->sparse_dim();
  const TensorList own = Unbind::call(coordinates(*pieces.pattern), 0);
  TensorList coordinate;
  Dims of_values{0};
  Shape shape;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const auto at = static_cast<std::int64_t>(d);
    check((dims[d] < sparse) == (at < sparse) && (dims[d] < batch) == (at < batch),
          ErrorCode::kInvalidArgument, "permute",
          "the dimensions of a sparse tensor's batch, coordinates and values cannot be mixed. Use "
          "its toDense().");
    if (at < sparse)
      coordinate.push_back(own[static_cast<std::size_t>(dims[d])]);
    else
      of_values.push_back(dims[d] - sparse + 1);
    shape.push_back(pieces.shape[static_cast<std::size_t>(dims[d])]);
  }
  const Tensor values =
      of_values.size() == 1 ? pieces.values : Permute::call(pieces.values, of_values);
  if (std::is_sorted(dims.begin(), dims.begin() + sparse))
    return with_values(shape, pieces.pattern, values);
  const IntrusivePtr<SparsePattern> moved =
      coo_pattern(Stack::call(coordinate), /*is_coalesced=*/false);
  const Tensor result = with_values(shape, moved, values);
  return layout(t) == Layout::kSparseCsr ? to_csr(result, batch) : result;
}

Tensor unsqueeze_sparse(const Tensor& t, std::int64_t dim) {
  const auto at = static_cast<std::size_t>(wrap_dim(dim, t.ndim() + 1, "unsqueeze"));
  const Pieces pieces(t);
  const auto sparse = static_cast<std::size_t>(pieces.pattern->sparse_dim());
  Shape shape = pieces.shape;
  shape.insert(at, 1);
  if (at > sparse) {
    const auto of_values = static_cast<std::int64_t>(at - sparse) + 1;
    return with_values(shape, pieces.pattern, Unsqueeze::call(pieces.values, of_values));
  }
  TensorList coordinate = Unbind::call(coordinates(*pieces.pattern), 0);
  coordinate.insert(coordinate.begin() + static_cast<std::ptrdiff_t>(at),
                    full({pieces.pattern->nnz()}, 0, DType::kInt64, t.device()));
  return with_values(shape, coo_pattern(Stack::call(coordinate), pieces.pattern->is_coalesced),
                     pieces.values);
}

Tensor expand_sparse(const Tensor& t, const Shape& shape) {
  if (t.shape() == shape) return t;
  const Pieces pieces(t);
  const std::size_t added = shape.size() - pieces.shape.size();
  const auto sparse = static_cast<std::size_t>(pieces.pattern->sparse_dim()) + added;
  const std::int64_t nnz = pieces.pattern->nnz();
  // All values are repeated at each position of the dimensions that grow.
  Shape grown;
  bool is_coalesced = pieces.pattern->is_coalesced;
  const auto grows = [&](std::size_t d) {
    return d < added || shape[d] != pieces.shape[d - added];
  };
  for (std::size_t d = 0; d < sparse; ++d) {
    if (!grows(d)) continue;
    is_coalesced = is_coalesced && grown.size() == d;
    grown.push_back(shape[d]);
  }
  const std::int64_t copies = numel(grown);
  const Dims each{copies, nnz};
  const auto repeated = [&](const Tensor& vector, std::int64_t at) {
    return Reshape::call(Expand::call(Unsqueeze::call(vector, at), each), {copies * nnz});
  };
  const TensorList own = Unbind::call(coordinates(*pieces.pattern), 0);
  const TensorList places = coordinates_of(numbers_below(copies, t.device()), grown);
  TensorList coordinate;
  std::size_t next = 0;
  for (std::size_t d = 0; d < sparse; ++d)
    coordinate.push_back(grows(d) ? repeated(places[next++], 1) : repeated(own[d - added], 0));
  Dims of_values{copies, nnz};
  of_values.append(shape.begin() + sparse, shape.end());
  Dims flat(of_values.begin() + 1, of_values.end());
  flat[0] = copies * nnz;
  const Tensor values = Reshape::call(Expand::call(pieces.values, of_values), flat);
  const Tensor indices = coordinate.empty() ? pieces.pattern->indices : Stack::call(coordinate);
  return with_values(shape, coo_pattern(indices, is_coalesced), values);
}

Tensor index_select_sparse(const Tensor& t, std::int64_t dim, const Tensor& index) {
  constexpr std::string_view kName = "index_select";
  const std::int64_t d = wrap_dim(dim, t.ndim(), kName);
  const auto at = static_cast<std::size_t>(d);
  check(t.ndim() > 0, ErrorCode::kShapeMismatch, kName, "expected a tensor with dimensions.");
  const Tensor picks = checked_index_vector(index, t.shape()[at], d, kName);
  const Pieces pieces(t);
  const std::int64_t sparse = pieces.pattern->sparse_dim();
  Shape shape = pieces.shape;
  shape[at] = picks.numel();
  if (d >= sparse)
    return with_values(shape, pieces.pattern,
                       IndexSelect::call(pieces.values, d - sparse + 1, picks));
  TensorList coordinate = Unbind::call(coordinates(*pieces.pattern), 0);
  const TensorList sorted = Sort::call(picks, 0, /*descending=*/false, /*stable=*/true);
  const Operand own(coordinate[at]);
  // Each value is in as many slices as the index has its coordinate.
  const auto [chosen, place] =
      pairs_with_ranges(Searchsorted::call(sorted[0], own),
                        Searchsorted::call(sorted[0], own, /*out_int32=*/false, /*right=*/true));
  for (std::size_t k = 0; k < coordinate.size(); ++k) {
    coordinate[k] = k == at ? IndexSelect::call(sorted[1], 0, place)
                            : IndexSelect::call(coordinate[k], 0, chosen);
  }
  return with_values(shape, coo_pattern(Stack::call(coordinate), /*is_coalesced=*/false),
                     IndexSelect::call(pieces.values, 0, chosen));
}

namespace {

// Values with zeros before and after them along a dimension, which gets this size.
Tensor with_zeros_around(const Tensor& values, std::int64_t dim, std::int64_t before,
                         std::int64_t size) {
  Shape shape = values.shape();
  const auto d = static_cast<std::size_t>(dim);
  const std::int64_t after = size - before - shape[d];
  TensorList parts{values};
  shape[d] = before;
  if (before > 0) parts.insert(parts.begin(), full(shape, 0, values.dtype(), values.device()));
  shape[d] = after;
  if (after > 0) parts.push_back(full(shape, 0, values.dtype(), values.device()));
  return Cat::call(parts, dim);
}

// Checks that all have the same shape but for dimension d, along which they are joined. Returns it
// with the sum of their sizes there.
Shape checked_shape(const TensorList& tensors, std::size_t d, std::string_view name) {
  const Tensor& first = tensors[0];
  Shape shape = first.shape();
  shape[d] = 0;
  for (const Tensor& t : tensors) {
    check(t.is_sparse() && first.is_sparse() && t.ndim() == first.ndim(),
          ErrorCode::kInvalidArgument, name,
          "a sparse tensor can be joined with sparse tensors of as many dimensions only. Use "
          "toDense().");
    check(t.sparse().pattern->sparse_dim() == first.sparse().pattern->sparse_dim(),
          ErrorCode::kInvalidArgument, name, "expected tensors of the same sparseDim, got ",
          first.sparse().pattern->sparse_dim(), " and ", t.sparse().pattern->sparse_dim(),
          ". Use toDense().");
    for (std::size_t k = 0; k < shape.size(); ++k) {
      check(k == d || t.shape()[k] == shape[k], ErrorCode::kShapeMismatch, name,
            "sizes must be equal except in dimension ", d, ", got ", t.shape(), " and ",
            first.shape(), '.');
    }
    shape[d] += t.shape()[d];
  }
  return shape;
}

}  // namespace

Tensor cat_sparse(const TensorList& tensors, std::int64_t dim) {
  constexpr std::string_view kName = "cat";
  const std::int64_t along = wrap_dim(dim, tensors[0].ndim(), kName);
  const auto d = static_cast<std::size_t>(along);
  const Shape shape = checked_shape(tensors, d, kName);
  const SparsePattern& first = *tensors[0].sparse().pattern;
  const std::int64_t of_values = along - first.sparse_dim() + 1;
  TensorList indices;
  TensorList values;
  std::int64_t before = 0;
  bool all_csr = true;
  for (const Tensor& t : tensors) {
    const Pieces pieces(t);
    if (of_values > 0) {
      indices.push_back(coordinates(*pieces.pattern));
      values.push_back(with_zeros_around(pieces.values, of_values, before, shape[d]));
    } else {
      TensorList coordinate = Unbind::call(coordinates(*pieces.pattern), 0);
      coordinate[d] = call<op::Add>(coordinate[d], Operand(Scalar(before)));
      indices.push_back(Stack::call(coordinate));
      values.push_back(pieces.values);
    }
    before += t.shape()[d];
    all_csr = all_csr && layout(t) == Layout::kSparseCsr;
  }
  const Tensor result = with_values(
      shape, coo_pattern(Cat::call(indices, 1), /*is_coalesced=*/false), Cat::call(values, 0));
  return all_csr ? to_csr(result, static_cast<std::int64_t>(first.batch.size())) : result;
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
