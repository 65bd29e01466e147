#include "ops/nn/pool.h"

#include <algorithm>

#include "dispatch/factories.h"
#include "kernels/pool.h"
#include "ops/create/copy.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

using kernel::PoolAxis;
using kernel::PoolDivisor;
using kernel::PoolPlanes;

// The shape with its last two sizes replaced.
Shape with_plane(const Shape& shape, std::int64_t rows, std::int64_t columns) {
  Shape result = shape;
  result[shape.size() - 2] = rows;
  result[shape.size() - 1] = columns;
  return result;
}
Shape pooled_shape(const Shape& shape, const PoolPlanes& pool) {
  return with_plane(shape, pool.rows.out, pool.columns.out);
}
Shape input_shape(const Shape& shape, const PoolPlanes& pool) {
  return with_plane(shape, pool.rows.in, pool.columns.in);
}

// ---------------------------------------------------------------- means

struct MeanPoolAttrs {
  PoolPlanes pool;
  PoolDivisor divisor;
};

// A mean and its gradient are linear and each other's gradient, so they are one node in two
// directions.
template <bool kForward>
struct MeanPool {
  static constexpr op::Doc doc =
      kForward ? AvgPool2d::doc : op::Doc{"avg_pool2d_backward", "The gradient of avg_pool2d."};
  using Attrs = MeanPoolAttrs;

  static Tensor call(const Tensor& in, const Attrs& attrs) {
    const auto& [pool, divisor] = attrs;
    const Shape shape = kForward ? pooled_shape(in.shape(), pool) : input_shape(in.shape(), pool);
    const Tensor out = Tensor::empty(shape, in.dtype(), in.device());
    const Tensor source = packed(in);
    if constexpr (kForward)
      run(kernel::AvgPool{pool, divisor, source.memory(), out.memory()});
    else
      run(kernel::AvgPoolBackward{pool, divisor, source.memory(), out.memory()});
    return record<MeanPool>(out, {in}, attrs);
  }
  static GradList backward(const Backward<MeanPool>& b) {
    return {MeanPool<!kForward>::call(b.grad(), b.attrs())};
  }
};

// ---------------------------------------------------------------- maxima

// The gradient of a maximum goes to the element that was the maximum. Scattering to those elements
// and gathering from them are each other's gradient.
template <bool kPick>
struct MoveAtIndices {
  static constexpr op::Doc doc{kPick ? "max_pool2d_backward_backward" : "max_pool2d_backward",
                               "Moves values between the maxima and the result of max_pool2d."};
  using Attrs = PoolPlanes;
  static constexpr std::array<std::string_view, 1> saved_names{"indices"};

  static Tensor call(const Tensor& in, const Tensor& indices, const Attrs& pool) {
    const Shape shape = kPick ? indices.shape() : input_shape(in.shape(), pool);
    const Tensor out = Tensor::empty(shape, in.dtype(), in.device());
    const Tensor source = packed(in);
    if constexpr (kPick)
      run(kernel::MaxPoolPick{pool, source.memory(), indices.memory(), out.memory()});
    else
      run(kernel::MaxPoolBackward{pool, source.memory(), indices.memory(), out.memory()});
    return record<MoveAtIndices>(out, {in}, pool, {{indices}});
  }
  static GradList backward(const Backward<MoveAtIndices>& b) {
    return {MoveAtIndices<!kPick>::call(b.grad(), b.saved(0), b.attrs())};
  }
};

struct MaxPoolWithIndices {
  static constexpr op::Doc doc{"max_pool2d_with_indices", MaxPool2d::doc.text};
  using Attrs = PoolPlanes;
  static constexpr std::array<std::string_view, 1> saved_names{"result1"};

  static OneOrMore call(const Tensor& input, const Attrs& pool, bool return_indices) {
    if (is_integral(input.dtype())) return pool_integers(input, pool, return_indices);
    const Shape shape = pooled_shape(input.shape(), pool);
    const Tensor out = Tensor::empty(shape, input.dtype(), input.device());
    const Tensor indices = Tensor::empty(shape, DType::kInt64, input.device());
    const Tensor source = packed(input);
    run(kernel::MaxPool{pool, source.memory(), out.memory(), indices.memory()});
    record<MaxPoolWithIndices>(out, {input}, pool, {{indices}});
    if (return_indices) return {{out, indices}};
    return {{out}};
  }
  static GradList backward(const Backward<MaxPoolWithIndices>& b) {
    return {MoveAtIndices<false>::call(b.grad(), b.saved(0), b.attrs())};
  }

 private:
  // All integers are pooled as int64, for which there is a kernel.
  static OneOrMore pool_integers(const Tensor& input, const Attrs& pool, bool return_indices) {
    check(input.dtype() != DType::kBool, ErrorCode::kDtypeMismatch, "max_pool",
          "not implemented for bool.");
    const Tensor source = packed(ToDType::call(input, DType::kInt64));
    const Tensor out =
        Tensor::empty(pooled_shape(input.shape(), pool), DType::kInt64, input.device());
    const Tensor indices = Tensor::empty(out.shape(), DType::kInt64, input.device());
    run(kernel::MaxPool{pool, source.memory(), out.memory(), indices.memory()});
    const Tensor values = ToDType::call(out, input.dtype());
    if (return_indices) return {{values, indices}};
    return {{values}};
  }
};

// ---------------------------------------------------------------- windows

struct WindowParams {
  std::string_view op;
  Dims kernel;
  Dims stride;
  Dims padding;
  Dims dilation;
  bool ceil_mode;
};

Dims one_or_two(const Dims& values, std::string_view name, std::string_view op) {
  check(values.size() == 1 || values.size() == 2, ErrorCode::kInvalidArgument, op, name,
        " must be one or two numbers, got ", values, '.');
  return values.size() == 2 ? values : Dims{values[0], values[0]};
}

WindowParams read_params(std::string_view op, const Dims& kernel_size,
                         const std::optional<Dims>& stride, const Dims& padding,
                         const Dims& dilation, bool ceil_mode) {
  const Dims kernel = one_or_two(kernel_size, "kernelSize", op);
  const bool has_stride = stride.has_value() && !stride->empty();
  return {op,
          kernel,
          has_stride ? one_or_two(*stride, "stride", op) : kernel,
          one_or_two(padding, "padding", op),
          one_or_two(dilation, "dilation", op),
          ceil_mode};
}

// The parameters of windows along the last dimension, over planes of one row.
WindowParams one_row(WindowParams params) {
  params.kernel[0] = params.stride[0] = params.dilation[0] = 1;
  params.padding[0] = 0;
  return params;
}

// The distance from the first element of a window to its last.
std::int64_t reach_of(const WindowParams& p, std::size_t d) {
  return (CheckedInt(p.dilation[d]) * (p.kernel[d] - 1)).value();
}

std::int64_t window_count(const WindowParams& p, std::size_t d, std::int64_t size) {
  const std::int64_t reach = reach_of(p, d);
  check(p.kernel[d] > 0 && p.stride[d] > 0 && p.dilation[d] > 0, ErrorCode::kInvalidArgument, p.op,
        "kernelSize, stride and dilation must be positive, got ", p.kernel, ", ", p.stride, " and ",
        p.dilation, '.');
  check(p.padding[d] >= 0 && p.padding[d] <= (reach + 1) / 2, ErrorCode::kInvalidArgument, p.op,
        "padding must be at most half the window, got ", p.padding[d], " for kernelSize ",
        p.kernel[d], " and dilation ", p.dilation[d], '.');
  const std::int64_t room = (CheckedInt(size) + 2 * p.padding[d] - reach - 1).value();
  const std::int64_t slack = room + (p.ceil_mode ? p.stride[d] - 1 : 0);
  std::int64_t count = slack < 0 ? 0 : slack / p.stride[d] + 1;
  // The last window must begin inside the input or its left padding.
  if (p.ceil_mode && (count - 1) * p.stride[d] >= size + p.padding[d]) --count;
  check(count > 0, ErrorCode::kInvalidArgument, p.op, "a window of kernelSize ", p.kernel[d],
        " does not fit input of size ", size, '.');
  return count;
}

PoolAxis make_axis(const WindowParams& p, std::size_t d, std::int64_t size) {
  return {size, window_count(p, d, size), p.kernel[d], p.stride[d], p.padding[d], p.dilation[d]};
}

PoolAxis adaptive_axis(std::int64_t size, std::int64_t count) {
  return {.in = size, .out = count, .is_adaptive = true};
}

// The input must have `spatial` dims after the channels and an optional batch. Only the batch may
// be empty, and with `may_lack_channels` the channels, too.
void check_pooled(const Tensor& input, std::int64_t spatial, std::string_view op,
                  bool may_lack_channels = false) {
  const std::int64_t channels = input.ndim() - spatial - 1;
  bool fits = channels == 0 || channels == 1;
  for (std::int64_t d = may_lack_channels ? channels + 1 : channels; fits && d < input.ndim(); ++d)
    fits = input.size(d) > 0;
  check(fits, ErrorCode::kShapeMismatch, op, "input must have ", spatial + 1,
        " nonempty dimensions and may have a batch, got shape ", input.shape(), '.');
}

// Pooling of the last two dimensions.
PoolPlanes make_planes(const Tensor& input, const PoolAxis& rows, const PoolAxis& columns) {
  const std::span<const std::int64_t> shape = input.shape();
  return {numel(shape.first(shape.size() - 2)), rows, columns};
}

PoolPlanes make_windows(const Tensor& input, const WindowParams& params) {
  return make_planes(input, make_axis(params, 0, input.size(-2)),
                     make_axis(params, 1, input.size(-1)));
}

PoolPlanes adaptive_windows(const Tensor& input, const OutputSizes& output_size,
                            std::string_view op) {
  check_pooled(input, 2, op, true);
  check(output_size.size() == 1 || output_size.size() == 2, ErrorCode::kInvalidArgument, op,
        "outputSize must be one or two numbers, got ", output_size.size(), '.');
  const Dims size{output_size[0].value_or(input.size(-2)),
                  output_size[output_size.size() - 1].value_or(input.size(-1))};
  check(size[0] >= 0 && size[1] >= 0, ErrorCode::kInvalidArgument, op,
        "outputSize must not be negative, got ", size, '.');
  return make_planes(input, adaptive_axis(input.size(-2), size[0]),
                     adaptive_axis(input.size(-1), size[1]));
}

// Planes of one row.
Tensor as_planes(const Tensor& input) { return Unsqueeze::call(input, -2); }

}  // namespace

OneOrMore MaxPool1d::call(const Tensor& input, const Dims& kernel_size,
                          const std::optional<Dims>& stride, const Dims& padding,
                          const Dims& dilation, bool ceil_mode, bool return_indices) {
  check_pooled(input, 1, doc.name);
  const WindowParams params =
      one_row(read_params(doc.name, kernel_size, stride, padding, dilation, ceil_mode));
  const Tensor planes = as_planes(input);
  OneOrMore result = MaxPoolWithIndices::call(planes, make_windows(planes, params), return_indices);
  for (Tensor& t : result.tensors) t = Squeeze::call(t, Dims{-2});
  return result;
}

OneOrMore MaxPool2d::call(const Tensor& input, const Dims& kernel_size,
                          const std::optional<Dims>& stride, const Dims& padding,
                          const Dims& dilation, bool ceil_mode, bool return_indices) {
  check_pooled(input, 2, doc.name);
  const WindowParams params =
      read_params(doc.name, kernel_size, stride, padding, dilation, ceil_mode);
  return MaxPoolWithIndices::call(input, make_windows(input, params), return_indices);
}

Tensor AvgPool1d::call(const Tensor& input, const Dims& kernel_size,
                       const std::optional<Dims>& stride, const Dims& padding, bool ceil_mode,
                       bool count_include_pad) {
  check_pooled(input, 1, doc.name);
  const WindowParams params =
      one_row(read_params(doc.name, kernel_size, stride, padding, {1}, ceil_mode));
  const Tensor planes = as_planes(input);
  return Squeeze::call(
      MeanPool<true>::call(planes, {make_windows(planes, params), {count_include_pad}}), Dims{-2});
}

Tensor AvgPool2d::call(const Tensor& input, const Dims& kernel_size,
                       const std::optional<Dims>& stride, const Dims& padding, bool ceil_mode,
                       bool count_include_pad, std::optional<std::int64_t> divisor_override) {
  check_pooled(input, 2, doc.name);
  check(divisor_override.value_or(1) != 0, ErrorCode::kInvalidArgument, doc.name,
        "divisorOverride must not be 0.");
  const WindowParams params = read_params(doc.name, kernel_size, stride, padding, {1}, ceil_mode);
  const PoolDivisor divisor{count_include_pad, static_cast<double>(divisor_override.value_or(0))};
  return MeanPool<true>::call(input, {make_windows(input, params), divisor});
}

Tensor AdaptiveAvgPool2d::call(const Tensor& input, const OutputSizes& output_size) {
  return MeanPool<true>::call(input, {adaptive_windows(input, output_size, doc.name), {}});
}

OneOrMore AdaptiveMaxPool2d::call(const Tensor& input, const OutputSizes& output_size,
                                  bool return_indices) {
  return MaxPoolWithIndices::call(input, adaptive_windows(input, output_size, doc.name),
                                  return_indices);
}

}  // namespace eg
