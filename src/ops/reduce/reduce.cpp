// compile: compact

#include "ops/reduce/reduce.h"

#include "dispatch/optional_memory.h"
#include "ops/complex/complex.h"
#include "ops/reduce/reduction.h"

namespace eg {
namespace {

// The node of unreduce.
struct Unreduce {
  static constexpr op::Doc doc{"unreduce", "The gradient of sum."};
  struct Attrs {
    ReducedDims reduced;
  };
  static GradList backward(const Backward<Unreduce>& b) {
    const ReducedDims& reduced = b.attrs().reduced;
    // Without dimensions there is nothing to sum, and an empty list would mean all.
    if (reduced.dims.empty()) return {b.grad()};
    return {Sum::call(b.grad(), reduced.dims, reduced.keepdim)};
  }
};

}  // namespace

Shape ReducedDims::result_shape(const Shape& shape) const {
  Shape result;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool is_reduced =
        std::binary_search(dims.begin(), dims.end(), static_cast<std::int64_t>(d));
    if (!is_reduced)
      result.push_back(shape[d]);
    else if (keepdim)
      result.push_back(1);
  }
  return result;
}

std::int64_t ReducedDims::count(const Shape& shape) const {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= shape[static_cast<std::size_t>(dim)];
  return count;
}

ReducedDims reduced_dims(const std::optional<Dims>& dim, bool keepdim, std::int64_t ndim,
                         std::string_view op) {
  ReducedDims reduced{{}, keepdim};
  if (dim.has_value() && !dim->empty()) {
    reduced.dims = wrap_dims(*dim, ndim, op);
    sort_few(reduced.dims);
    // Dimension 0 is accepted for a 0-dim tensor, which has none.
    if (ndim == 0) reduced.dims.clear();
  } else {
    for (std::int64_t d = 0; d < ndim; ++d) reduced.dims.push_back(d);
  }
  return reduced;
}

Tensor run_reduction(const kernel::Reduction& reduction, const Tensor& input,
                     const ReducedDims& reduced, const Tensor& shifts) {
  if (is_complex(reduction.compute)) {
    if (reduction.fold != kernel::Fold::kSum) {
      fail(ErrorCode::kDtypeMismatch, "not implemented for ", reduction.compute, '.');
    }
    // Sums the parts, whose dimension is the last.
    kernel::Reduction of_parts = reduction;
    of_parts.compute = real_dtype(reduction.compute);
    return joined_parts(run_reduction(of_parts, parts_of(input), reduced));
  }
  const Tensor result =
      Tensor::empty(reduced.result_shape(input.shape()), reduction.compute, input.device());
  run(kernel::Reduce{reduction, input.shape(), reduced.dims, input.memory(), input.strides(),
                     optional_memory(shifts), result.memory()});
  return result;
}

Tensor unreduce(const Tensor& result, const ReducedDims& reduced, const Shape& shape) {
  Strides strides;
  std::size_t from = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool is_reduced =
        std::binary_search(reduced.dims.begin(), reduced.dims.end(), static_cast<std::int64_t>(d));
    strides.push_back(is_reduced ? 0 : result.strides()[from]);
    if (!is_reduced || reduced.keepdim) ++from;
  }
  return record_view<Unreduce>(result, shape, strides, result.offset(), {reduced});
}

void check_not_empty(const Tensor& input, const ReducedDims& reduced, bool has_dim,
                     std::string_view op) {
  if (input.numel() != 0) return;
  check(has_dim, ErrorCode::kInvalidArgument, op,
        "there is no element to choose in an empty tensor. Pass a dim of nonzero size.");
  for (const std::int64_t dim : reduced.dims) {
    check(input.size(dim) != 0, ErrorCode::kIndexOutOfRange, op, "dim ", dim,
          " has size 0, so there is no element to choose along it.");
  }
}

}  // namespace eg
