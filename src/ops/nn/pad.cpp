#include "ops/nn/pad.h"

#include <algorithm>

#include "dispatch/factories.h"
#include "dispatch/transfer.h"
#include "ops/create/copy.h"
#include "ops/index/index.h"

namespace eg {
namespace {

// The number of elements added before and after along each dimension; negative numbers remove.
struct Margins {
  Dims before;
  Dims after;
};

Margins negated(const Margins& margins) {
  Margins result = margins;
  for (std::int64_t& n : result.before) n = -n;
  for (std::int64_t& n : result.after) n = -n;
  return result;
}

// Constant padding; its gradient is the padding that removes what this one adds.
struct ConstantPad {
  static constexpr op::Doc doc{"constant_pad_nd", Pad::doc.text};
  struct Attrs {
    Margins margins;
  };

  static Tensor call(const Tensor& input, const Margins& margins, Scalar value) {
    Shape shape = input.shape();
    // The shape of the part of the input that remains.
    Shape kept = shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::int64_t before = margins.before[d];
      const std::int64_t after = margins.after[d];
      shape[d] += before + after;
      check(shape[d] >= 0, ErrorCode::kInvalidArgument, "pad", "padding (", before, ", ", after,
            ") removes more than the size of dimension ", d, ", ", input.shape()[d], '.');
      kept[d] += std::min<std::int64_t>(before, 0) + std::min<std::int64_t>(after, 0);
    }
    const Tensor result = full(shape, value, input.dtype(), input.device());
    const bool is_empty =
        std::any_of(kept.begin(), kept.end(), [](std::int64_t size) { return size <= 0; });
    if (!is_empty) {
      std::int64_t from = input.offset();
      std::int64_t to = 0;
      for (std::size_t d = 0; d < shape.size(); ++d) {
        from += std::max<std::int64_t>(-margins.before[d], 0) * input.strides()[d];
        to += std::max<std::int64_t>(margins.before[d], 0) * result.strides()[d];
      }
      copy_data(result.alias(kept, result.strides(), to), input.alias(kept, input.strides(), from));
    }
    return record<ConstantPad>(result, {input}, {margins});
  }
  static GradList backward(const Backward<ConstantPad>& b) {
    return {call(b.grad(), negated(b.attrs().margins), 0)};
  }
};

// The index in a dimension of size n that is read for a position in the padded dimension.
std::int64_t source_index(PadMode mode, std::int64_t position, std::int64_t n, std::int64_t before,
                          std::int64_t after) {
  const std::int64_t i = position - before;
  if (mode == PadMode::kReplicate) return std::clamp<std::int64_t>(i, 0, n - 1);
  if (mode == PadMode::kCircular) {
    // Elements cut off on one side do not reappear on the other.
    const std::int64_t first = std::max<std::int64_t>(-before, 0);
    const std::int64_t kept = n - first - std::max<std::int64_t>(-after, 0);
    return first + ((i - first) % kept + kept) % kept;
  }
  if (i < 0) return -i;
  return i < n ? i : 2 * (n - 1) - i;
}

void check_border(PadMode mode, const Tensor& input, std::int64_t dim, std::int64_t before,
                  std::int64_t after) {
  const std::int64_t n = input.size(dim);
  if (mode == PadMode::kReflect) {
    check(before < n && after < n, ErrorCode::kInvalidArgument, "pad",
          "padding by reflection must be less than the size of dimension ", dim, ", got (", before,
          ", ", after, ") for shape ", input.shape(), '.');
  }
  if (mode == PadMode::kCircular) {
    check(before <= n && after <= n, ErrorCode::kInvalidArgument, "pad",
          "circular padding must not exceed the size of dimension ", dim, ", got (", before, ", ",
          after, ") for shape ", input.shape(), '.');
  }
  const bool is_cut = mode == PadMode::kCircular &&
                      n + std::min<std::int64_t>(before, 0) <= std::max<std::int64_t>(-after, 0);
  check(n > 0 && n + before + after > 0 && !is_cut, ErrorCode::kInvalidArgument, "pad", "input ",
        input.shape(), " with padding (", before, ", ", after,
        ") has no elements left along dimension ", dim, '.');
}

Tensor pad_border(PadMode mode, const Tensor& input, std::int64_t dim, std::int64_t before,
                  std::int64_t after) {
  check_border(mode, input, dim, before, after);
  const std::int64_t n = input.size(dim);
  const Tensor index = Tensor::empty({n + before + after}, DType::kInt64);
  for (std::int64_t i = 0; i < index.numel(); ++i)
    index.data_as<std::int64_t>()[i] = source_index(mode, i, n, before, after);
  return IndexSelect::call(input, dim, moved(index, input.device()));
}

}  // namespace

Tensor Pad::call(const Tensor& input, const Dims& pad, PadMode mode, std::optional<double> value) {
  check(pad.size() % 2 == 0, ErrorCode::kInvalidArgument, doc.name,
        "pad must have an even number of elements, got ", pad, '.');
  const std::int64_t ndim = input.ndim();
  const auto padded = static_cast<std::int64_t>(pad.size() / 2);
  check(padded <= ndim, ErrorCode::kInvalidArgument, doc.name, "pad has ", pad.size(),
        " elements, more than two for each of the ", ndim, " dimensions.");
  if (mode == PadMode::kConstant) {
    Margins margins{Dims(input.shape().size(), 0), Dims(input.shape().size(), 0)};
    for (std::int64_t k = 0; k < padded; ++k) {
      const auto d = static_cast<std::size_t>(ndim - 1 - k);
      margins.before[d] = pad[static_cast<std::size_t>(2 * k)];
      margins.after[d] = pad[static_cast<std::size_t>(2 * k + 1)];
    }
    return ConstantPad::call(input, margins, value.value_or(0));
  }
  check(value.value_or(0) == 0, ErrorCode::kInvalidArgument, doc.name, "mode '",
        enum_names(mode)[static_cast<std::size_t>(mode)], "' does not take a value.");
  check(padded >= 1 && padded <= 3 && (ndim == padded + 1 || ndim == padded + 2),
        ErrorCode::kInvalidArgument, doc.name, "a pad of ", pad.size(), " elements for ", ndim,
        " dimensions requires mode 'constant'.");
  const DType computed = computed_dtype(input.dtype());
  if (computed != input.dtype())
    return ToDType::call(call(ToDType::call(input, computed), pad, mode, value), input.dtype());
  Tensor result = input;
  for (std::int64_t k = 0; k < padded; ++k) {
    const std::int64_t before = pad[static_cast<std::size_t>(2 * k)];
    const std::int64_t after = pad[static_cast<std::size_t>(2 * k + 1)];
    if (before != 0 || after != 0) result = pad_border(mode, result, ndim - 1 - k, before, after);
  }
  return result.is_same(input) ? Clone::call(input) : result;
}

}  // namespace eg
