#include "ops/shape/rearrange.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "dispatch/factories.h"
#include "kernels/index.h"
#include "ops/create/copy.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/slice.h"
#include "ops/shape/stride.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

Tensor triangle(const Tensor& input, std::int64_t diagonal, bool lower, std::string_view op) {
  check(input.ndim() >= 2, ErrorCode::kShapeMismatch, op,
        "expected at least 2 dimensions, got shape ", input.shape(), '.');
  const Tensor result = contiguous_copy(input);
  run(kernel::ClearTriangle{result.numel(), result.size(-2), result.size(-1), diagonal, lower,
                            result.memory()});
  return result;
}

// Writes a vector to a diagonal of a matrix of zeros. Its gradient is the view of that diagonal.
struct DiagonalMatrix {
  static constexpr op::Doc doc{"diag_embed", "A matrix with a vector on its diagonal."};
  struct Attrs {
    std::int64_t diagonal;
  };
  static Tensor call(const Tensor& input, std::int64_t diagonal) {
    const CheckedInt distance = diagonal < 0 ? CheckedInt(0) - diagonal : diagonal;
    const std::int64_t size = (distance + input.numel()).value();
    const Tensor result = full({size, size}, 0, input.dtype(), input.device());
    const std::int64_t offset = diagonal < 0 ? -diagonal * size : diagonal;
    copy_data(result.alias(input.shape(), {size + 1}, offset), input);
    return record<DiagonalMatrix>(result, {input}, {diagonal});
  }
  static GradList backward(const Backward<DiagonalMatrix>& b) {
    return {Diagonal::call(b.grad(), b.attrs().diagonal)};
  }
};

}  // namespace

Tensor Flip::call(const Tensor& input, const Dims& dims) {
  const Dims wrapped = wrap_dims(dims, input.ndim(), doc.name);
  Strides strides = input.strides();
  std::int64_t offset = input.offset();
  if (input.numel() > 0 && input.ndim() > 0) {
    for (const std::int64_t dim : wrapped) {
      const auto d = static_cast<std::size_t>(dim);
      offset += (input.shape()[d] - 1) * strides[d];
      strides[d] = -strides[d];
    }
  }
  return record<Flip>(contiguous_copy(input.alias(input.shape(), strides, offset)), {input},
                      {wrapped});
}

GradList Flip::backward(const Backward<Flip>& b) { return {Flip::call(b.grad(), b.attrs().dims)}; }

Tensor Roll::call(const Tensor& input, const Dims& shifts, const std::optional<Dims>& dims) {
  check(!shifts.empty(), ErrorCode::kInvalidArgument, doc.name, "expected at least one shift.");
  if (!dims.has_value() || dims->empty()) {
    check(shifts.size() == 1, ErrorCode::kInvalidArgument, doc.name,
          "expected one shift without dims, got ", shifts.size(), '.');
    return Reshape::call(call(Reshape::call(input, {-1}), shifts, Dims{0}), input.shape());
  }
  check(shifts.size() == dims->size(), ErrorCode::kInvalidArgument, doc.name,
        "expected a shift for each of dims, got ", shifts.size(), " shifts and ", dims->size(),
        " dims.");
  Tensor result = detach(input);
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    const auto d = static_cast<std::size_t>(wrap_dim((*dims)[i], input.ndim(), doc.name));
    if (result.numel() == 0 || input.ndim() == 0) continue;
    const Tensor rolled = Tensor::empty(input.shape(), input.dtype(), input.device());
    const std::int64_t size = input.shape()[d];
    const std::int64_t head = (shifts[i] % size + size) % size;
    const auto move = [&](std::int64_t from, std::int64_t to, std::int64_t length) {
      Shape shape = input.shape();
      shape[d] = length;
      copy_data(
          rolled.alias(shape, rolled.strides(), to * rolled.strides()[d]),
          result.alias(shape, result.strides(), result.offset() + from * result.strides()[d]));
    };
    move(0, head, size - head);
    move(size - head, 0, head);
    result = rolled;
  }
  return record<Roll>(result.shares_storage_with(input) ? contiguous_copy(result) : result, {input},
                      {shifts, *dims});
}

GradList Roll::backward(const Backward<Roll>& b) {
  Dims back = b.attrs().shifts;
  for (std::int64_t& shift : back) shift = -shift;
  return {Roll::call(b.grad(), back, b.attrs().dims)};
}

Tensor Rot90::call(const Tensor& input, std::int64_t k, const Dims& dims) {
  check(dims.size() == 2, ErrorCode::kInvalidArgument, doc.name, "expected two dims, got ",
        dims.size(), '.');
  check(input.ndim() >= 2, ErrorCode::kShapeMismatch, doc.name,
        "expected at least 2 dimensions, got ", input.ndim(), '.');
  const std::int64_t a = wrap_dim(dims[0], input.ndim(), doc.name);
  const std::int64_t b = wrap_dim(dims[1], input.ndim(), doc.name);
  check(a != b, ErrorCode::kInvalidArgument, doc.name, "the two dims must differ, got ", dims[0],
        " and ", dims[1], '.');
  switch ((k % 4 + 4) % 4) {
    case 1:
      return Transpose::call(Flip::call(input, {b}), a, b);
    case 2:
      return Flip::call(input, {a, b});
    case 3:
      return Transpose::call(Flip::call(input, {a}), a, b);
    default:
      return Flip::call(input, {});
  }
}

Tensor Tril::call(const Tensor& input, std::int64_t diagonal) {
  return record<Tril>(triangle(input, diagonal, true, doc.name), {input}, {diagonal});
}

GradList Tril::backward(const Backward<Tril>& b) {
  return {Tril::call(b.grad(), b.attrs().diagonal)};
}

Tensor Triu::call(const Tensor& input, std::int64_t diagonal) {
  return record<Triu>(triangle(input, diagonal, false, doc.name), {input}, {diagonal});
}

GradList Triu::backward(const Backward<Triu>& b) {
  return {Triu::call(b.grad(), b.attrs().diagonal)};
}

Tensor Diag::call(const Tensor& input, std::int64_t diagonal) {
  check(input.ndim() == 1 || input.ndim() == 2, ErrorCode::kShapeMismatch, doc.name,
        "expected a vector or a matrix, got ", input.ndim(), " dimensions.");
  if (input.ndim() == 1) return DiagonalMatrix::call(input, diagonal);
  return Clone::call(Diagonal::call(input, diagonal));
}

Tensor Trace::call(const Tensor& input) {
  check(input.ndim() == 2, ErrorCode::kShapeMismatch, doc.name, "expected a matrix, got ",
        input.ndim(), " dimensions.");
  return Sum::call(Diagonal::call(input));
}

Tensor FillDiagonalInPlace::call(const Tensor& input, Scalar fill_value, bool wrap) {
  check(input.ndim() >= 2, ErrorCode::kShapeMismatch, doc.name,
        "expected at least 2 dimensions, got shape ", input.shape(), '.');
  const std::int64_t height = input.size(0);
  const std::int64_t width = input.size(1);
  if (input.ndim() > 2) {
    check(std::all_of(input.shape().begin(), input.shape().end(),
                      [&](std::int64_t size) { return size == height; }),
          ErrorCode::kShapeMismatch, doc.name,
          "with more than 2 dimensions, all sizes must be equal, got shape ", input.shape(), '.');
  }
  const std::int64_t step =
      std::accumulate(input.strides().begin(), input.strides().end(), std::int64_t{0});
  const auto fill = [&](std::int64_t size, std::int64_t start) {
    FillInPlace::call(AsStrided::call(input, {size}, {step}, input.offset() + start), fill_value);
  };
  const std::int64_t size = std::min(height, width);
  fill(size, 0);
  // The diagonals of the square blocks below the first, which are separated by one row.
  if (wrap && input.ndim() == 2 && height > width + 1) {
    fill((input.numel() + width) / (width + 1) - size, input.strides()[0] * (width + 1));
  }
  return input;
}

}  // namespace eg
