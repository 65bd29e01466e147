// compile: engine

#include "base/shape.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace eg {
namespace {

using Span = std::span<const std::int64_t>;

Shape shape_from(Span values) { return Shape(values); }

// Called by every op, and 64-bit products with an overflow flag are slow in WebAssembly. Doubles
// are exact up to kMaxElements; a larger product may exceed the limit unnoticed, but only by less
// than its rounding error, which is harmless.
bool product_exceeds(std::int64_t a, std::int64_t b, std::int64_t limit) {
  return std::abs(static_cast<double>(a) * static_cast<double>(b)) > static_cast<double>(limit);
}

}  // namespace

std::int64_t numel(Span shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

void check_shape(Span shape) {
  if (shape.size() > kMaxDims) {
    fail(ErrorCode::kInvalidArgument, "tensors have at most ", kMaxDims, " dimensions, got ",
         shape.size(), '.');
  }
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0) {
      fail(ErrorCode::kInvalidArgument, "sizes must not be negative, got shape ", shape_from(shape),
           '.');
    }
    if (size <= 1) continue;
    if (product_exceeds(count, size, kMaxElements)) {
      fail(ErrorCode::kOutOfMemory, "shape ", shape_from(shape), " has more than 2^53 elements.");
    }
    count *= size;
  }
}

bool view_fits(Span shape, Span strides, std::int64_t offset, std::int64_t capacity) {
  // Keeps the sums below from overflowing; far larger than any storage.
  constexpr std::int64_t kLimit = std::int64_t{1} << 56;
  if (offset > kLimit || offset < -kLimit) return false;
  // Strides may be negative: the elements span `first` to `last`.
  std::int64_t first = offset;
  std::int64_t last = offset;
  bool is_empty = false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    is_empty = is_empty || shape[i] == 0;
    if (shape[i] <= 1) continue;
    if (product_exceeds(shape[i], strides[i], kLimit)) return false;
    (strides[i] < 0 ? first : last) += (shape[i] - 1) * strides[i];
  }
  return is_empty || (first >= 0 && last < capacity);
}

Strides contiguous_strides(Span shape) {
  Strides strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

bool is_contiguous(Span shape, Span strides) {
  std::int64_t expected = 1;
  bool packed = true;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) return true;
    if (shape[i] != 1 && strides[i] != expected) packed = false;
    expected *= shape[i];
  }
  return packed;
}

std::int64_t storage_extent(Span shape, Span strides) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return 0;
    last += (shape[i] - 1) * strides[i];
  }
  return last + 1;
}

namespace {

// The dimensions of more than one element, by increasing stride.
SmallVector<std::size_t, 8> dims_by_stride(Span shape, Span strides) {
  SmallVector<std::size_t, 8> order;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) order.push_back(i);
  }
  sort_few(order, [&](std::size_t a, std::size_t b) { return strides[a] < strides[b]; });
  return order;
}

}  // namespace

bool is_injective(Span shape, Span strides) {
  if (numel(shape) == 0) return true;
  std::int64_t reach = 0;
  for (const std::size_t i : dims_by_stride(shape, strides)) {
    if (strides[i] <= reach) return false;
    reach += (shape[i] - 1) * strides[i];
  }
  return true;
}

bool is_non_overlapping_and_dense(Span shape, Span strides) {
  if (numel(shape) == 0) return true;
  std::int64_t expected = 1;
  for (const std::size_t i : dims_by_stride(shape, strides)) {
    if (strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

Shape broadcast_shapes(Span a, Span b, std::string_view op) {
  const std::size_t ndim = std::max(a.size(), b.size());
  Shape result(ndim);
  for (std::size_t i = 0; i < ndim; ++i) {
    const std::int64_t size_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t size_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    check(size_a == size_b || size_a == 1 || size_b == 1, ErrorCode::kShapeMismatch, op, "shapes ",
          shape_from(a), " and ", shape_from(b), " cannot be broadcast together: sizes ", size_a,
          " and ", size_b, " differ at dimension ", ndim - 1 - i, '.');
    result[ndim - 1 - i] = size_a == 1 ? size_b : size_a;
  }
  return result;
}

bool is_expandable_to(Span from, Span to) {
  if (from.size() > to.size()) return false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t size = from[from.size() - 1 - i];
    if (size != 1 && size != to[to.size() - 1 - i]) return false;
  }
  return true;
}

Strides broadcast_strides(Span shape, Span strides, Span target) {
  Strides result(target.size());
  const std::size_t added = target.size() - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    result[added + i] = shape[i] == 1 && target[added + i] != 1 ? 0 : strides[i];
  }
  return result;
}

std::int64_t wrap_dim(std::int64_t dim, std::int64_t ndim, std::string_view op) {
  const std::int64_t range = std::max<std::int64_t>(ndim, 1);
  check(dim >= -range && dim < range, ErrorCode::kIndexOutOfRange, op, "dimension ", dim,
        " is out of range, expected a value from ", -range, " to ", range - 1, '.');
  return dim < 0 ? dim + range : dim;
}

Dims wrap_dims(Span dims, std::int64_t ndim, std::string_view op) {
  Dims wrapped;
  for (const std::int64_t dim : dims) {
    const std::int64_t value = wrap_dim(dim, ndim, op);
    check(std::find(wrapped.begin(), wrapped.end(), value) == wrapped.end(),
          ErrorCode::kInvalidArgument, op, "dimension ", value, " is listed more than once.");
    wrapped.push_back(value);
  }
  return wrapped;
}

Shape infer_size(Span requested, std::int64_t count, std::string_view op) {
  Shape result(requested);
  const auto fail_mismatch = [&] {
    fail(ErrorCode::kShapeMismatch, '[', op, "] cannot view ", count, " elements as shape ",
         shape_from(requested), '.');
  };
  std::int64_t known = 1;
  std::int64_t* unknown = nullptr;
  for (std::int64_t& size : result) {
    if (size == -1) {
      check(unknown == nullptr, ErrorCode::kInvalidArgument, op, "at most one size may be -1, got ",
            shape_from(requested), '.');
      unknown = &size;
    } else {
      check(size >= 0, ErrorCode::kInvalidArgument, op,
            "sizes must not be negative except for one -1, got ", size, '.');
      if (product_exceeds(known, size, kMaxElements)) fail_mismatch();
      known *= size;
    }
  }
  if (unknown != nullptr) {
    check(known != 0, ErrorCode::kInvalidArgument, op, "cannot infer the size -1 in ",
          shape_from(requested), " for ", count,
          " elements: every size fits, because another size is 0.");
    *unknown = count / known;
    known *= *unknown;
  }
  if (known != count) fail_mismatch();
  check_shape(result);
  return result;
}

bool view_strides(Span shape, Span strides, Span target, Strides& result) {
  result = Strides(target.size());
  if (numel(shape) == 0) {
    result = contiguous_strides(target);
    return true;
  }
  // Walks both shapes from the back, matching runs of source dimensions that are packed in memory
  // with runs of target dimensions of the same element count.
  std::size_t targets = target.size();
  std::int64_t base_stride = shape.empty() ? 1 : strides.back();
  std::int64_t block = 1;
  std::int64_t target_block = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    block *= shape[i];
    const bool block_ends = i == 0 || (shape[i - 1] != 1 && strides[i - 1] != block * base_stride);
    if (!block_ends) continue;
    while (targets > 0 && (target_block < block || target[targets - 1] == 1)) {
      --targets;
      result[targets] = target_block * base_stride;
      target_block *= target[targets];
    }
    if (target_block != block) return false;
    if (i > 0) {
      base_stride = strides[i - 1];
      block = 1;
      target_block = 1;
    }
  }
  while (targets > 0) {
    --targets;
    if (target[targets] != 1) return false;
    result[targets] = base_stride;
  }
  return true;
}

}  // namespace eg
