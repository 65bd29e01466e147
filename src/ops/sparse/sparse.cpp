#include "ops/sparse/sparse.h"

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
  return is_true(All::call((strictly ? before < after : before <= after).tensor()));
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

void check_values(const Tensor& values, std::int64_t nnz, std::span<const std::int64_t> dense,
                  std::string_view op) {
  check_dense(values, op, "values");
  Shape expected{nnz};
  for (const std::int64_t size : dense) expected.push_back(size);
  check(values.shape() == expected, ErrorCode::kShapeMismatch, op, "expected values of shape ",
        expected, " for these indices and this size, got ", values.shape(), '.');
}

Tensor make_coo(const Tensor& values, const Tensor& indices, const Dims& size, bool is_coalesced) {
  const Tensor own = checked_coordinates(indices, size, kCooName);
  check_values(values, own.size(1), std::span(size).subspan(static_cast<std::size_t>(own.size(0))),
               kCooName);
  check_same_device(kCooName, values.device(), own.device());
  const Shape shape(size.begin(), size.end());
  const IntrusivePtr<SparsePattern> pattern = coo_pattern(own, is_coalesced);
  check(!is_coalesced || ascends(positions(shape, *pattern), true), ErrorCode::kInvalidArgument,
        kCooName, "isCoalesced: the indices are not in order, or occur several times.");
  return with_values(shape, pattern, values);
}

Tensor make_csr(const Tensor& values, const Tensor& given_columns, const Tensor& given_starts,
                const Dims& size) {
  check_dense(given_columns, kCsrName, "colIndices");
  check_dense(given_starts, kCsrName, "crowIndices");
  check(size.size() == 2, ErrorCode::kShapeMismatch, kCsrName,
        "expected the size of a matrix, got ", size.size(), " dimensions.");
  const Tensor columns =
      contiguous_copy(checked_index_vector(detach(given_columns), size[1], 1, kCsrName));
  const Tensor starts =
      contiguous_copy(checked_index_vector(detach(given_starts), columns.numel() + 1, 0, kCsrName));
  check(starts.numel() == size[0] + 1, ErrorCode::kShapeMismatch, kCsrName,
        "crowIndices: expected ", size[0] + 1, " numbers, one more than there are rows, got ",
        starts.numel(), '.');
  check_values(values, columns.numel(), {}, kCsrName);
  const Tensor host = on_host(starts);
  const std::span<const std::int64_t> each = index_values(host);
  check(each.front() == 0 && each.back() == columns.numel() && ascends(starts, false),
        ErrorCode::kInvalidArgument, kCsrName, "crowIndices: expected ascending numbers from 0 to ",
        columns.numel(), ", the number of values.");
  const auto pattern =
      make_intrusive<SparsePattern>(Layout::kSparseCsr, columns, starts, /*is_coalesced=*/true);
  const Shape shape(size.begin(), size.end());
  check(ascends(positions(shape, *pattern), true), ErrorCode::kInvalidArgument, kCsrName,
        "colIndices: expected different columns in ascending order in every row.");
  return with_values(shape, pattern, values);
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
  if (!recorded) return input.sparse().values.alias();
  check(input.sparse().pattern->is_coalesced, ErrorCode::kInvalidArgument, "values",
        "the positions may occur several times. Call coalesce() first.");
  const Tensor values = Pieces(input).values;
  const bool is_tracked = requires_grad(values) || tangent(values).defined();
  return is_tracked ? Clone::call(values) : values.alias();
}

TensorList SparseIndices::call(const Tensor& input) {
  check(input.is_sparse(), ErrorCode::kInvalidArgument, "indices",
        "expected a sparse tensor, got a dense one.");
  const SparsePattern& pattern = *input.sparse().pattern;
  if (pattern.layout == Layout::kSparseCoo) return {contiguous_copy(pattern.indices)};
  return {contiguous_copy(pattern.row_starts), contiguous_copy(pattern.indices)};
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
  const Tensor is_kept = (Var(detach(rows)) != Var(0)).tensor();
  const Tensor kept = true_positions(dense.empty() ? is_kept : Any::call(is_kept, dense));
  TensorList coordinate(static_cast<std::size_t>(dims));
  Tensor rest = kept;
  for (auto d = static_cast<std::size_t>(dims); d-- > 0;) {
    const Operand size{Scalar(input.shape()[d])};
    coordinate[d] = eg::call<op::Remainder>(rest, size);
    rest = eg::call<op::FloorDivide>(rest, size);
  }
  const Tensor indices =
      dims > 0 ? Stack::call(coordinate) : full({0, kept.numel()}, 0, DType::kInt64, kept.device());
  return with_values(input.shape(), coo_pattern(indices, true), IndexSelect::call(rows, 0, kept));
}

Tensor ToSparseCsr::call(const Tensor& input) {
  check(input.ndim() == 2, ErrorCode::kShapeMismatch, doc.name, "expected a matrix, got shape ",
        input.shape(), '.');
  if (layout(input) == Layout::kSparseCsr) return input;
  const Tensor sparse = ToSparse::call(input);
  check(sparse.sparse().pattern->sparse_dim() == 2, ErrorCode::kInvalidArgument, doc.name,
        "expected two sparse dimensions, got one and a dense one.");
  return to_csr(sparse);
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
