#include "ops/sparse/sparse_parts.h"

#include <algorithm>

#include "autograd/tensor_math.h"
#include "dispatch/factories.h"
#include "dispatch/transfer.h"
#include "dispatch/var.h"
#include "formulas/all.h"
#include "kernels/index.h"
#include "ops/create/copy.h"
#include "ops/create/factory.h"
#include "ops/index/index.h"
#include "ops/index/index_args.h"
#include "ops/index/search.h"
#include "ops/reduce/reduction.h"
#include "ops/reduce/scan.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "ops/sparse/sparse.h"

namespace eg {
namespace {

struct SparsePatternOf {
  Shape shape;
  IntrusivePtr<SparsePattern> pattern;
};

struct WithValues {
  static constexpr op::Doc doc{"sparse_tensor", "A sparse tensor of these values."};
  static constexpr bool makes_sparse = true;
  using Attrs = SparsePatternOf;
  static GradList backward(const Backward<WithValues>& b) {
    return {values_at(b.grad(), *b.attrs().pattern)};
  }
};

// The row of each value of a matrix in CSR layout: the number of rows that have started before it.
Tensor rows_of(const SparsePattern& pattern) {
  const std::int64_t nnz = pattern.nnz();
  const Tensor& starts = pattern.row_starts;
  const Tensor later = Narrow::call(starts, 0, 1, starts.numel() - 1);
  const Tensor none = full({nnz + 1}, 0, DType::kInt64, starts.device());
  const Tensor started = IndexAdd::call(none, 0, later, full_like(later, 1));
  return Cumsum::call(Narrow::call(started, 0, 0, nnz), 0);
}

// The elements of a coalesced tensor at these positions, zero where it has none.
Tensor look_up(const Pieces& pieces, const Tensor& wanted) {
  const Tensor have = positions(pieces.shape, *pieces.pattern);
  if (have.numel() == 0) {
    Shape shape = pieces.values.shape();
    shape[0] = wanted.numel();
    return full(shape, 0, pieces.values.dtype(), pieces.values.device());
  }
  const Tensor found = Searchsorted::call(have, Operand(wanted));
  const op::Clamp::Params last{.max = static_cast<double>(have.numel() - 1)};
  const Tensor at = call_with<op::Clamp>(last, Operand(found));
  Tensor is_missing = IndexSelect::call(have, 0, at) != wanted;
  while (is_missing.ndim() < pieces.values.ndim()) is_missing = Unsqueeze::call(is_missing, -1);
  return call<op::MaskedFill>(IndexSelect::call(pieces.values, 0, at), is_missing, 0);
}

// The dtype in which values are summed.
DType sum_dtype(DType dtype) {
  return dtype == DType::kBool ? DType::kInt32 : computed_dtype(dtype);
}

}  // namespace

Tensor add_rows(const Tensor& rows, const Tensor& at, const Tensor& values) {
  const DType dtype = sum_dtype(rows.dtype());
  const Tensor sum =
      IndexAdd::call(ToDType::call(rows, dtype), 0, at, ToDType::call(values, dtype));
  return ToDType::call(sum, rows.dtype());
}

namespace {

IntrusivePtr<SparsePattern> in_coo(const IntrusivePtr<SparsePattern>& pattern) {
  return pattern->layout == Layout::kSparseCoo ? pattern : coo_pattern(coordinates(*pattern), true);
}

struct TakenValues {
  static constexpr op::Doc doc{"values", "The values of a coalesced sparse tensor."};
  using Attrs = SparsePatternOf;
  static Tensor call(const Tensor& t) {
    const IntrusivePtr<SparsePattern>& pattern = t.sparse().pattern;
    return record_linear<TakenValues>(
        t.sparse().values.alias(), {t}, {t.shape(), pattern}, {},
        [&](const TensorList& of) { return values_at(of[0], *pattern); });
  }
  static GradList backward(const Backward<TakenValues>& b) {
    return {with_values(b.attrs().shape, b.attrs().pattern, b.grad())};
  }
};

}  // namespace

Tensor shifted(const Tensor& integers, int by) { return call<op::Add>(integers, Operand(by)); }

Tensor numbers_below(std::int64_t count, Device device) {
  return shifted(Cumsum::call(full({count}, 1, DType::kInt64, device), 0), -1);
}

Pairs pairs_with_ranges(const Tensor& first, const Tensor& last) {
  const Device device = first.device();
  const Var count = last - first;
  const Tensor left = RepeatInterleave::call(numbers_below(first.numel(), device), Operand(count));
  const Var pairs_before = Cumsum::call(count, 0) - count;
  const Tensor shift = IndexSelect::call(first - pairs_before, 0, left);
  return {left, numbers_below(left.numel(), device) + shift};
}

Shape sparse_sizes(const Shape& shape, const SparsePattern& pattern) {
  return {shape.begin(), shape.begin() + pattern.sparse_dim()};
}

Tensor row_major(const Tensor& coordinates, const Shape& sizes) {
  if (sizes.size() == 1) return Select::call(coordinates, 0, 0);
  Tensor sum = full({coordinates.size(1)}, 0, DType::kInt64, coordinates.device());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const Operand size{Scalar(sizes[d])};
    const Tensor along = Select::call(coordinates, 0, static_cast<std::int64_t>(d));
    sum = sum * size.tensor() + along;
  }
  return sum;
}

TensorList coordinates_of(const Tensor& positions, const Shape& sizes) {
  TensorList coordinate(sizes.size());
  Tensor rest = positions;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    const Operand size{Scalar(sizes[d])};
    coordinate[d] = call<op::Remainder>(rest, size);
    rest = call<op::FloorDivide>(rest, size);
  }
  return coordinate;
}

Tensor coordinates(const SparsePattern& pattern) {
  if (pattern.layout == Layout::kSparseCoo) return pattern.indices;
  const Tensor rows = rows_of(pattern);
  if (pattern.batch.empty()) return Stack::call({rows, pattern.indices});
  Shape sizes = pattern.batch;
  sizes.push_back((pattern.row_starts.numel() - 1) / std::max<std::int64_t>(1, numel(sizes)));
  TensorList all = coordinates_of(rows, sizes);
  all.push_back(pattern.indices);
  return Stack::call(all);
}

Tensor positions(const Shape& shape, const SparsePattern& pattern) {
  if (pattern.layout == Layout::kSparseCoo)
    return row_major(pattern.indices, sparse_sizes(shape, pattern));
  const Operand columns{Scalar(shape[pattern.batch.size() + 1])};
  return rows_of(pattern) * columns.tensor() + pattern.indices;
}

Tensor with_one_sparse_dim(const Tensor& t, std::int64_t sparse_dim) {
  const Shape& shape = t.shape();
  Dims merged{1};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (static_cast<std::int64_t>(d) < sparse_dim)
      merged[0] *= shape[d];
    else
      merged.push_back(shape[d]);
  }
  return Reshape::call(t, merged);
}

Tensor with_values(const Shape& shape, IntrusivePtr<SparsePattern> pattern, const Tensor& values) {
  const Tensor result = make_sparse(shape, pattern, detach(values));
  return record_linear<WithValues>(
      result, {values}, {shape, pattern}, {},
      [&](const TensorList& of) { return with_values(shape, pattern, of[0]); });
}

Tensor values_at(const Tensor& t, const SparsePattern& pattern) {
  if (t.is_sparse()) {
    const Pieces pieces(Coalesce::call(t));
    if (pieces.pattern.get() == &pattern) return pieces.values;
    if (pieces.pattern->sparse_dim() != pattern.sparse_dim())
      return values_at(ToDense::call(t), pattern);
    return look_up(pieces, positions(t.shape(), pattern));
  }
  const Tensor rows = with_one_sparse_dim(t, pattern.sparse_dim());
  return IndexSelect::call(rows, 0, positions(t.shape(), pattern));
}

Pieces::Pieces(const Tensor& t) : shape(t.shape()) {
  const bool is_tracked = requires_grad(t) || tangent(t).defined();
  const Tensor one_each = is_tracked ? Coalesce::call(t) : t;
  pattern = one_each.sparse().pattern;
  values = is_tracked ? TakenValues::call(one_each) : t.sparse().values;
}

IntrusivePtr<SparsePattern> coo_pattern(Tensor indices, bool is_coalesced) {
  // As in PyTorch, one position cannot be out of order.
  const bool has_one = indices.size(1) <= 1;
  return make_intrusive<SparsePattern>(Layout::kSparseCoo, std::move(indices), Tensor(),
                                       is_coalesced || has_one);
}

IntrusivePtr<SparsePattern> csr_pattern(Tensor columns, Tensor row_starts, const Shape& batch) {
  return make_intrusive<SparsePattern>(Layout::kSparseCsr, std::move(columns),
                                       std::move(row_starts), /*is_coalesced=*/true, batch);
}

Tensor to_csr(const Tensor& t, std::int64_t batch_dims) {
  if (layout(t) == Layout::kSparseCsr) return t;
  const Pieces pieces(Coalesce::call(t));
  const Tensor& indices = pieces.pattern->indices;
  const Shape batch(pieces.shape.begin(), pieces.shape.begin() + batch_dims);
  Shape rows = batch;
  rows.push_back(pieces.shape[batch.size()]);
  const Tensor row = row_major(indices, rows);
  const Tensor counts = IndexAdd::call(full({numel(rows) + 1}, 0, DType::kInt64, row.device()), 0,
                                       shifted(row, 1), full_like(row, 1));
  const Tensor starts = Cumsum::call(counts, 0);
  if (numel(rows) > 0 && batch_dims > 0) {
    const std::int64_t count = numel(batch);
    const Tensor firsts = Narrow::call(starts, 0, 0, numel(rows));
    const Tensor first = Select::call(Reshape::call(firsts, {count, rows.back()}), 1, 0);
    const Operand nnz{Scalar(indices.size(1) / count)};
    const Var expected = numbers_below(count, row.device()) * nnz.tensor();
    check(indices.size(1) % count == 0 && is_true(All::call(first == expected)),
          ErrorCode::kInvalidArgument, "toSparseCsr",
          "the matrices of a batch must have equally many values.");
  }
  const Tensor columns = contiguous_copy(Select::call(indices, 0, batch_dims + 1));
  return with_values(pieces.shape, csr_pattern(columns, starts, batch), pieces.values);
}

Tensor add_sparse(const Tensor& a, const Tensor& b) {
  if (!a.is_sparse()) {
    const Pieces pieces(b);
    const Tensor rows = with_one_sparse_dim(a, pieces.pattern->sparse_dim());
    const Tensor at = positions(b.shape(), *pieces.pattern);
    return Reshape::call(add_rows(rows, at, pieces.values), a.shape());
  }
  if (!b.is_sparse()) return add_sparse(b, a);
  const Pieces own(a);
  const Pieces others(b);
  const std::int64_t dims = std::min(own.pattern->sparse_dim(), others.pattern->sparse_dim());
  if (own.pattern->sparse_dim() != others.pattern->sparse_dim()) {
    const auto with_dims = [dims](const Tensor& t) {
      return t.sparse().pattern->sparse_dim() == dims ? t : ToSparse::call(ToDense::call(t), dims);
    };
    return add_sparse(with_dims(a), with_dims(b));
  }
  if (own.pattern == others.pattern && own.pattern->is_coalesced)
    return with_values(own.shape, own.pattern, call<op::Add>(own.values, others.values));
  const IntrusivePtr<SparsePattern> left = in_coo(own.pattern);
  const IntrusivePtr<SparsePattern> right = in_coo(others.pattern);
  Tensor sum =
      with_values(own.shape, coo_pattern(Cat::call({left->indices, right->indices}, 1), false),
                  Cat::call({own.values, others.values}, 0));
  // Otherwise a gradient that is accumulated for long would grow without end.
  const bool is_crowded = left->nnz() + right->nnz() > numel(sparse_sizes(own.shape, *left));
  const bool is_coalesced = left->is_coalesced && right->is_coalesced;
  if (!is_crowded && !is_coalesced) return sum;
  const bool is_csr = layout(a) == Layout::kSparseCsr && layout(b) == Layout::kSparseCsr;
  return is_csr ? to_csr(sum, static_cast<std::int64_t>(own.pattern->batch.size()))
                : Coalesce::call(sum);
}

void add_sparse_in_place(const Tensor& a, const Tensor& b) {
  if (a.is_sparse()) {
    a.set_sparse(add_sparse(a, b));
  } else if (a.is_contiguous() && sum_dtype(a.dtype()) == a.dtype()) {
    const SparsePattern& pattern = *b.sparse().pattern;
    const Tensor rows = with_one_sparse_dim(detach(a), pattern.sparse_dim());
    const Tensor values = packed(ToDType::call(b.sparse().values, a.dtype()));
    run(kernel::AddRows{rows_along(rows.shape(), 0, positions(b.shape(), pattern)), values.memory(),
                        rows.memory()});
  } else {
    copy_data(a, add_sparse(detach(a), b));
  }
  a.bump_version();
}

Tensor sparse_zeros_like(const Tensor& t, DType dtype) {
  const SparseParts& own = t.sparse();
  Shape values = own.values.shape();
  values[0] = 0;
  Tensor starts;
  if (own.pattern->row_starts.defined()) starts = full_like(own.pattern->row_starts, 0);
  return make_sparse(
      t.shape(),
      make_intrusive<SparsePattern>(own.pattern->layout,
                                    contiguous_copy(Narrow::call(own.pattern->indices, -1, 0, 0)),
                                    starts, /*is_coalesced=*/true, own.pattern->batch),
      Tensor::empty(values, dtype, t.device()));
}

Tensor clear_sparse(const Tensor& t) {
  const bool recording = should_record({&t, 1});
  check_inplace(t, recording);
  const Tensor empty = sparse_zeros_like(t, t.dtype());
  t.set_sparse(empty);
  t.bump_version();
  if (recording) take_history(t, empty);
  return t;
}

IntrusivePtr<SparsePattern> moved_pattern(const SparsePattern& pattern, Device device) {
  const Tensor& starts = pattern.row_starts;
  return make_intrusive<SparsePattern>(pattern.layout, moved(pattern.indices, device),
                                       starts.defined() ? moved(starts, device) : starts,
                                       pattern.is_coalesced, pattern.batch);
}

Tensor clone_sparse(const Tensor& t) {
  const Pieces pieces(t);
  const SparsePattern& own = *pieces.pattern;
  const Tensor starts = own.row_starts.defined() ? contiguous_copy(own.row_starts) : Tensor();
  return with_values(pieces.shape,
                     make_intrusive<SparsePattern>(own.layout, contiguous_copy(own.indices), starts,
                                                   own.is_coalesced, own.batch),
                     Clone::call(pieces.values));
}

Tensor copy_sparse(const Tensor& t, const Tensor& source) {
  constexpr std::string_view kName = "copy_";
  check_sparse(t, kName, "input");
  check_sparse(source, kName, "source");
  check(source.shape() == t.shape(), ErrorCode::kShapeMismatch, kName,
        "sparse tensors are not broadcast: expected equal shapes, got ", t.shape(), " and ",
        source.shape(), '.');
  const std::array<Tensor, 2> inputs{t, source};
  const bool recording = should_record(inputs);
  check_inplace(t, recording);
  const Tensor converted = ToDevice::call(ToDType::call(source, t.dtype()), t.device());
  const std::size_t batch = t.sparse().pattern->batch.size();
  const Tensor copy = clone_sparse(layout(t) == Layout::kSparseCsr
                                       ? to_csr(converted, static_cast<std::int64_t>(batch))
                                       : ToSparse::call(converted));
  t.set_sparse(copy);
  t.bump_version();
  if (recording) take_history(t, copy);
  return t;
}

void check_sparse(const Tensor& t, std::string_view op, std::string_view name) {
  check(t.is_sparse(), ErrorCode::kInvalidArgument, op, name,
        ": expected a sparse tensor, got a dense one. Use its toSparse().");
}

void check_dense(const Tensor& t, std::string_view op, std::string_view name) {
  check(!t.is_sparse(), ErrorCode::kInvalidArgument, op, name,
        ": expected a dense tensor, got a sparse one. Use its toDense().");
}

}  // namespace eg
