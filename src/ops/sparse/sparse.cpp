#include "ops/sparse/sparse.h"

#include <algorithm>
#include <vector>

#include "autograd/tensor_math.h"
#include "dispatch/factories.h"
#include "dispatch/transfer.h"
#include "dispatch/var.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/create/factory.h"
#include "ops/index/distinct.h"
#include "ops/index/index.h"
#include "ops/index/index_args.h"
#include "ops/matrix/matrix_product.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "ops/sparse/sparse_parts.h"
#include "ops/sparse/sparse_product.h"

namespace eg {
namespace {

constexpr std::string_view kCooName = "sparse_coo_tensor";
constexpr std::string_view kCsrName = "sparse_csr_tensor";

bool ascends(const Tensor& numbers, bool strictly) {
  const std::int64_t count = numbers.numel() - 1;
  if (count <= 0) return true;
  const Var before(Narrow::call(numbers, 0, 0, count));
  const Var after(Narrow::call(numbers, 0, 1, count));
  return is_true(All::call(strictly ? before < after : before <= after));
}

// The coordinates as int64 that no other code can change; every one is in its dimension.
Tensor checked_coordinates(const Tensor& indices, const Dims& size, std::string_view op) {
  check_dense(indices, op, "indices");
  check(indices.ndim() == 2, ErrorCode::kShapeMismatch, op,
        "indices must have the shape [sparse dimensions, values], got ", indices.shape(), '.');
  const std::int64_t dims = indices.size(0);
  check(dims <= static_cast<std::int64_t>(size.size()), ErrorCode::kShapeMismatch, op,
        "indices have ", dims, " coordinates, more than the ", size.size(), " dimensions of size.");
  const Tensor given = to_index(detach(indices), op);
  if (dims == 0) return contiguous_copy(given);
  TensorList checked;
  for (std::int64_t d = 0; d < dims; ++d)
    checked.push_back(
        checked_index(Select::call(given, 0, d), size[static_cast<std::size_t>(d)], d, op));
  return Stack::call(checked);
}

void check_values(const Tensor& values, const Shape& expected, std::string_view op) {
  check_dense(values, op, "values");
  check(values.shape() == expected, ErrorCode::kShapeMismatch, op, "expected values of shape ",
        expected, " for these indices and this size, got ", values.shape(), '.');
}

Tensor make_coo(const Tensor& values, const Tensor& indices, const Dims& size, bool is_coalesced) {
  const Tensor own = checked_coordinates(indices, size, kCooName);
  Shape expected{own.size(1)};
  expected.append(size.begin() + own.size(0), size.end());
  check_values(values, expected, kCooName);
  check_same_device(kCooName, values.device(), own.device());
  const Shape shape(size.begin(), size.end());
  const IntrusivePtr<SparsePattern> pattern = coo_pattern(own, is_coalesced);
  check(!is_coalesced || ascends(positions(shape, *pattern), true), ErrorCode::kInvalidArgument,
        kCooName, "isCoalesced: the indices are not in order, or occur several times.");
  return with_values(shape, pattern, values);
}

// The shape of a part of CSR: the dimensions of a batch, then these.
Shape in_batch(const Shape& batch, std::initializer_list<std::int64_t> sizes) {
  Shape shape = batch;
  shape.append(sizes.begin(), sizes.end());
  return shape;
}

// Where the rows of all matrices of a batch start among all values.
Tensor checked_starts(const Tensor& given, const Shape& batch, std::int64_t rows,
                      std::int64_t nnz) {
  check(given.shape() == in_batch(batch, {rows + 1}), ErrorCode::kShapeMismatch, kCsrName,
        "crowIndices: expected ", rows + 1,
        " numbers for each matrix, one more than there are rows, got shape ", given.shape(), '.');
  const Tensor host = on_host(checked_index(given, nnz + 1, 0, kCsrName));
  const std::span<const std::int64_t> all = index_values(host);
  const auto count = static_cast<std::size_t>(rows + 1);
  std::vector<std::int64_t> starts;
  starts.reserve(all.size());
  std::int64_t before = 0;
  for (std::size_t first = 0; first < all.size(); first += count, before += nnz) {
    const std::span<const std::int64_t> each = all.subspan(first, count);
    check(each.front() == 0 && each.back() == nnz && std::ranges::is_sorted(each),
          ErrorCode::kInvalidArgument, kCsrName,
          "crowIndices: expected ascending numbers from 0 to ", nnz, ", the number of values.");
    for (const std::int64_t start : each.first(count - 1)) starts.push_back(before + start);
  }
  starts.push_back(before);
  return index_tensor(starts, given.device());
}

Tensor make_csr(const Tensor& values, const Tensor& columns, const Tensor& starts,
                const Dims& size) {
  check_dense(columns, kCsrName, "colIndices");
  check_dense(starts, kCsrName, "crowIndices");
  const std::size_t dims = columns.shape().size();
  check(dims > 0 && size.size() > dims, ErrorCode::kShapeMismatch, kCsrName,
        "expected the size of a matrix for each vector of colIndices, which have the shape ",
        columns.shape(), ", got ", size.size(), " dimensions.");
  const Shape batch(size.begin(), size.begin() + static_cast<std::ptrdiff_t>(dims - 1));
  const std::int64_t nnz = columns.size(-1);
  check(columns.shape() == in_batch(batch, {nnz}), ErrorCode::kShapeMismatch, kCsrName,
        "colIndices: expected a vector for each matrix of a batch ", batch, ", got shape ",
        columns.shape(), '.');
  const auto dim = static_cast<std::int64_t>(dims);
  const Tensor each = checked_index(detach(columns), size[dims], dim, kCsrName);
  const Tensor flat = contiguous_copy(Reshape::call(each, {each.numel()}));
  const Tensor all_starts = checked_starts(detach(starts), batch, size[dims - 1], nnz);
  Shape expected = in_batch(batch, {nnz});
  expected.append(size.begin() + dim + 1, size.end());
  check_values(values, expected, kCsrName);
  check_same_device(kCsrName, values.device(), flat.device());
  const auto pattern = csr_pattern(flat, all_starts, batch);
  const Shape shape(size.begin(), size.end());
  check(ascends(positions(shape, *pattern), true), ErrorCode::kInvalidArgument, kCsrName,
        "colIndices: expected different columns in ascending order in every row.");
  return with_values(shape, pattern, batch.empty() ? values : with_one_sparse_dim(values, dim));
}

// A part of CSR for each matrix of a batch: `t` has those of all as its first dimension.
Tensor for_each_matrix(const Tensor& t, const SparsePattern& pattern) {
  if (pattern.batch.empty()) return t;
  Shape shape = in_batch(pattern.batch, {pattern.nnz_of_each()});
  shape.append(t.shape().begin() + 1, t.shape().end());
  return Reshape::call(t, Dims(shape.begin(), shape.end()));
}

// The row starts of each matrix of a batch, from 0.
Tensor row_starts_of_each(const SparsePattern& pattern) {
  const Tensor& starts = pattern.row_starts;
  if (pattern.batch.empty()) return contiguous_copy(starts);
  const std::int64_t count = numel(pattern.batch);
  const std::int64_t nnz = pattern.nnz_of_each();
  const std::int64_t rows = (starts.numel() - 1) / std::max<std::int64_t>(1, count);
  const Tensor firsts = Reshape::call(Narrow::call(starts, 0, 0, count * rows), {count, rows});
  const Operand each{Scalar(nnz)};
  const Var before = Unsqueeze::call(numbers_below(count, starts.device()), 1) * each.tensor();
  const Tensor last = full({count, 1}, nnz, DType::kInt64, starts.device());
  const Tensor all = Cat::call({firsts - before, last}, 1);
  const Shape shape = in_batch(pattern.batch, {rows + 1});
  return Reshape::call(all, Dims(shape.begin(), shape.end()));
}

}  // namespace

Tensor SparseTensor::call(const Tensor& values, const Tensor& indices,
                          const std::optional<Tensor>& row_starts, const Dims& size,
                          bool is_coalesced) {
  check_shape(Shape(size.begin(), size.end()));
  return row_starts.has_value() ? make_csr(values, indices, *row_starts, size)
                                : make_coo(values, indices, size, is_coalesced);
}

Tensor SparseValues::call(const Tensor& input, bool recorded) {
  check(input.is_sparse(), ErrorCode::kInvalidArgument, "values",
        "expected a sparse tensor, got a dense one.");
  const SparsePattern& pattern = *input.sparse().pattern;
  if (!recorded) return for_each_matrix(input.sparse().values.alias(), pattern);
  check(pattern.is_coalesced, ErrorCode::kInvalidArgument, "values",
        "the positions may occur several times. Call coalesce() first.");
  const Tensor values = Pieces(input).values;
  const bool is_tracked = requires_grad(values) || tangent(values).defined();
  return for_each_matrix(is_tracked ? Clone::call(values) : values.alias(), pattern);
}

TensorList SparseIndices::call(const Tensor& input) {
  check(input.is_sparse(), ErrorCode::kInvalidArgument, "indices",
        "expected a sparse tensor, got a dense one.");
  const SparsePattern& pattern = *input.sparse().pattern;
  if (pattern.layout == Layout::kSparseCoo) return {contiguous_copy(pattern.indices)};
  return {row_starts_of_each(pattern), for_each_matrix(contiguous_copy(pattern.indices), pattern)};
}

Tensor Coalesce::call(const Tensor& input) {
  check(input.is_sparse(), ErrorCode::kInvalidArgument, doc.name,
        "expected a sparse tensor, got a dense one.");
  const SparseParts& own = input.sparse();
  if (own.pattern->is_coalesced) return input;
  const Shape& shape = input.shape();
  const TensorList distinct =
      DistinctElements::call(positions(shape, *own.pattern), false, /*with_inverse=*/true);
  Shape value_shape = own.values.shape();
  value_shape[0] = distinct[0].numel();
  const Tensor none = full(value_shape, 0, own.values.dtype(), own.values.device());
  const Tensor values = add_rows(none, distinct[1], own.values);
  const Tensor indices = IndexSelect::call(own.pattern->indices, 1, distinct[0]);
  return record_linear<Coalesce>(make_sparse(shape, coo_pattern(indices, true), values), {input},
                                 {}, {}, [](const TensorList& of) { return call(of[0]); });
}

Tensor ToSparse::call(const Tensor& input, std::optional<std::int64_t> sparse_dim) {
  if (input.is_sparse()) {
    const Pieces pieces(input);
    check(!sparse_dim.has_value() || *sparse_dim == pieces.pattern->sparse_dim(),
          ErrorCode::kInvalidArgument, doc.name,
          "sparseDim of a sparse tensor cannot be changed. Use its toDense() first.");
    if (pieces.pattern->layout == Layout::kSparseCoo) return input;
    return with_values(pieces.shape, coo_pattern(coordinates(*pieces.pattern), true),
                       pieces.values);
  }
  const std::int64_t dims = sparse_dim.value_or(input.ndim());
  check(dims >= (input.ndim() > 0 ? 1 : 0) && dims <= input.ndim(), ErrorCode::kInvalidArgument,
        doc.name, "sparseDim: expected 1 to ", input.ndim(), ", got ", dims, '.');
  const Tensor rows = with_one_sparse_dim(input, dims);
  Dims dense;
  for (std::int64_t d = 1; d < rows.ndim(); ++d) dense.push_back(d);
  const Tensor is_kept = detach(rows) != 0;
  const Tensor kept = true_positions(dense.empty() ? is_kept : Any::call(is_kept, dense));
  const Shape sizes(input.shape().begin(), input.shape().begin() + dims);
  const Tensor indices = dims > 0 ? Stack::call(coordinates_of(kept, sizes))
                                  : full({0, kept.numel()}, 0, DType::kInt64, kept.device());
  return with_values(input.shape(), coo_pattern(indices, true), IndexSelect::call(rows, 0, kept));
}

Tensor ToSparseCsr::call(const Tensor& input, std::optional<std::int64_t> dense_dim) {
  const bool is_csr = layout(input) == Layout::kSparseCsr;
  if (input.is_sparse()) {
    const std::int64_t dims = input.sparse().pattern->sparse_dim();
    check(!dense_dim.has_value() || *dense_dim == input.ndim() - dims, ErrorCode::kInvalidArgument,
          doc.name, "denseDim of a sparse tensor cannot be changed. Use its toDense() first.");
    check(is_csr || dims == 2, ErrorCode::kInvalidArgument, doc.name,
          "expected two sparse dimensions, got ", dims, ". Use its toDense() first.");
    return is_csr ? input : to_csr(input);
  }
  const std::int64_t dense = dense_dim.value_or(0);
  check(dense >= 0, ErrorCode::kInvalidArgument, doc.name, "denseDim must not be negative, got ",
        dense, '.');
  check(input.ndim() >= dense + 2, ErrorCode::kShapeMismatch, doc.name,
        "expected a matrix or a batch of matrices", dense > 0 ? " before the dense dimensions" : "",
        ", got shape ", input.shape(), '.');
  return to_csr(ToSparse::call(input, input.ndim() - dense), input.ndim() - dense - 2);
}

Tensor SparseSampled::call(const Tensor& mask, const Tensor& mat1, const Tensor& mat2) {
  constexpr std::string_view kName = "sampledAddmm";
  check(mask.is_sparse() && mask.sparse().values.ndim() == 1, ErrorCode::kInvalidArgument, kName,
        "input: expected a sparse matrix.");
  check_dense(mat1, kName, "mat1");
  check_dense(mat2, kName, "mat2");
  check_matrices(kName, mat1, mat2);
  check(mask.shape() == Shape({mat1.size(0), mat2.size(1)}), ErrorCode::kShapeMismatch, kName,
        "expected a sparse matrix of the product's shape, [", mat1.size(0), ", ", mat2.size(1),
        "], got ", mask.shape(), '.');
  return sampled_product(mask, mat1, mat2);
}

Tensor ToDense::call(const Tensor& input) {
  if (!input.is_sparse()) return input;
  return add_sparse(full(input.shape(), 0, input.dtype(), input.device()), input);
}

Tensor SparseMask::call(const Tensor& input, const Tensor& mask) {
  check(mask.is_sparse(), ErrorCode::kInvalidArgument, doc.name,
        "mask: expected a sparse tensor, got a dense one.");
  check(mask.shape() == input.shape(), ErrorCode::kShapeMismatch, doc.name,
        "input and mask must have the same shape, got ", input.shape(), " and ", mask.shape(), '.');
  const IntrusivePtr<SparsePattern> pattern = Coalesce::call(mask).sparse().pattern;
  return with_values(input.shape(), pattern, values_at(input, *pattern));
}

}  // namespace eg
