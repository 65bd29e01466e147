#include "ops/nn/conv.h"

#include "dispatch/factories.h"
#include "dispatch/optional_memory.h"
#include "dispatch/var.h"
#include "kernels/conv.h"
#include "ops/complex/complex.h"
#include "ops/matrix/matrix_product.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

using kernel::Convolution;

// ---------------------------------------------------------------- recording

// A convolution y = x * w has three parts: the result from x and w, the gradient of x from that of
// y and w, and the gradient of w from that of y and x. Each part is linear in its two operands, and
// its gradients are the other two parts. So three nodes are enough for derivatives of any order.
// The second of them is also the transposed convolution.
enum class Part : std::uint8_t { kOut, kIn, kWeight };

Shape shape_of(Part part, const Convolution& c) {
  switch (part) {
    case Part::kOut:
      return {c.batch, c.out_channels, c.out[0], c.out[1]};
    case Part::kIn:
      return {c.batch, c.in_channels, c.in[0], c.in[1]};
    default:
      return {c.out_channels, c.in_channels / c.groups, c.kernel[0], c.kernel[1]};
  }
}

constexpr op::Doc doc_of(Part part, bool is_public) {
  if (is_public) return {"convolution", "A convolution, plain or transposed."};
  return part == Part::kWeight
             ? op::Doc{"convolution_backward_weight", "A gradient of convolution."}
             : op::Doc{"convolution_backward", "A gradient of convolution."};
}

// The result of a convolution with an empty operand: the bias, if any.
void fill_without_sums(const Tensor& result, const Tensor& bias) {
  fill_dense(result, 0);
  if (bias.defined()) copy_data(result, bias.alias({bias.numel(), 1, 1}, {1, 1, 1}, bias.offset()));
}

// Computes one of the three parts from the other two. `a` is the output, or the input if the output
// is computed; `b` is the weight, or the input if the weight is computed.
template <Part kPart>
struct ConvolutionPart {
  static constexpr op::Doc doc = doc_of(kPart, kPart != Part::kWeight);
  using Attrs = Convolution;
  static constexpr std::array<std::string_view, 2> saved_names{"input", "weight"};

  static constexpr Part kA = kPart == Part::kOut ? Part::kIn : Part::kOut;
  static constexpr Part kB = kPart == Part::kWeight ? Part::kIn : Part::kWeight;

  static Tensor call(const Tensor& a, const Tensor& b, const Attrs& conv, const Tensor& bias = {}) {
    const Tensor result = Tensor::empty(shape_of(kPart, conv), a.dtype(), a.device());
    const Tensor from_a = packed(a);
    const Tensor from_b = packed(b);
    const Tensor shift = bias.defined() ? packed(bias) : bias;
    if (a.numel() == 0 || b.numel() == 0) {
      fill_without_sums(result, shift);
    } else {
      const MemoryView bias_memory = optional_memory(shift);
      if constexpr (kPart == Part::kOut) {
        run(kernel::Convolve{conv, from_a.memory(), from_b.memory(), bias_memory, result.memory()});
      } else if constexpr (kPart == Part::kIn) {
        run(kernel::ConvolveBackwardInput{conv, from_a.memory(), from_b.memory(), bias_memory,
                                          result.memory()});
      } else {
        run(kernel::ConvolveBackwardWeight{conv, from_a.memory(), from_b.memory(),
                                           result.memory()});
      }
    }
    return record<ConvolutionPart>(result, {a, b, bias}, conv,
                                   {save_beside(a, b), save_beside(b, a)});
  }

  static GradList backward(const Backward<ConvolutionPart>& b) {
    const Convolution& conv = b.attrs();
    GradList grads(3);
    if (b.needs(0)) grads[0] = make<kA>(b.grad(), b.saved(1), conv);
    if (b.needs(1)) grads[1] = make<kB>(b.grad(), b.saved(0), conv);
    if (b.needs(2)) grads[2] = Sum::call(b.grad(), Dims{0, 2, 3});
    return grads;
  }

 private:
  // The gradient of the operand `kOther` from the gradient of this part and the remaining operand.
  template <Part kOther>
  static Tensor make(const Tensor& grad, const Tensor& left, const Convolution& conv) {
    // The operands of a part are in the order output, input, weight.
    constexpr bool kGradIsFirst =
        kPart == Part::kOut || (kPart == Part::kIn && kOther == Part::kOut);
    return kGradIsFirst ? ConvolutionPart<kOther>::call(grad, left, conv)
                        : ConvolutionPart<kOther>::call(left, grad, conv);
  }
};

// ---------------------------------------------------------------- arguments

Convolution::Pair pair_of(const Dims& values, std::int64_t spatial, std::int64_t one,
                          std::string_view name, std::string_view op) {
  check(values.size() == 1 || static_cast<std::int64_t>(values.size()) == spatial,
        ErrorCode::kInvalidArgument, op, name, " must be one number or one for each of ", spatial,
        " dimensions, got ", values, '.');
  if (spatial == 1) return {one, values[0]};
  return {values[0], values[values.size() - 1]};
}

// The operands in two spatial dimensions, with a batch.
struct Operands {
  std::string_view op;
  std::int64_t spatial;
  bool has_batch;
  Tensor input;
  Tensor weight;
  Tensor bias;
};

Tensor with_two_dims(const Tensor& t, std::int64_t spatial) {
  return spatial == 1 ? Unsqueeze::call(t, -2) : t;
}

Operands make_operands(std::string_view op, std::int64_t spatial, const Tensor& input,
                       const Tensor& weight, const std::optional<Tensor>& bias) {
  check(input.ndim() == spatial + 1 || input.ndim() == spatial + 2, ErrorCode::kShapeMismatch, op,
        "input must have ", spatial + 1, " dimensions or, with a batch, ", spatial + 2,
        ", got shape ", input.shape(), '.');
  check(weight.ndim() == spatial + 2, ErrorCode::kShapeMismatch, op, "weight must have ",
        spatial + 2, " dimensions, got shape ", weight.shape(), '.');
  for (const Tensor& other : {weight, bias.value_or(input)}) {
    check(other.dtype() == input.dtype(), ErrorCode::kDtypeMismatch, op, "weight and bias must be ",
          input.dtype(), " like input, got ", other.dtype(), '.');
    check_same_device(op, input.device(), other.device());
  }
  check(is_differentiable(input.dtype()), ErrorCode::kDtypeMismatch, op,
        "expected floating-point or complex numbers, got ", input.dtype(), '.');
  const bool has_batch = input.ndim() == spatial + 2;
  return {op,
          spatial,
          has_batch,
          with_two_dims(has_batch ? input : Unsqueeze::call(input, 0), spatial),
          with_two_dims(weight, spatial),
          bias.value_or(Tensor())};
}

Tensor as_given(const Operands& operands, Tensor result) {
  if (operands.spatial == 1) result = Squeeze::call(result, Dims{-2});
  return operands.has_batch ? result : Squeeze::call(result, Dims{0});
}

void check_geometry(const Operands& o, const Convolution& c) {
  for (std::size_t d = 0; d < 2; ++d) {
    check(c.stride[d] > 0, ErrorCode::kInvalidArgument, o.op, "stride must be positive, got ",
          c.stride[d], '.');
    check(c.dilation[d] > 0, ErrorCode::kInvalidArgument, o.op, "dilation must be positive, got ",
          c.dilation[d], '.');
    check(c.padding[d] >= 0, ErrorCode::kInvalidArgument, o.op,
          "padding must not be negative, got ", c.padding[d], '.');
  }
  check(c.groups > 0, ErrorCode::kInvalidArgument, o.op, "groups must be positive, got ", c.groups,
        '.');
  check(o.weight.size(0) % c.groups == 0 && o.weight.size(0) >= c.groups, ErrorCode::kShapeMismatch,
        o.op, "weight of shape ", o.weight.shape(), " cannot be divided into ", c.groups,
        " groups.");
}

void check_channels(const Operands& o, std::int64_t groups, std::int64_t expected) {
  check(o.input.size(1) == expected, ErrorCode::kShapeMismatch, o.op, "input must have ", expected,
        " channels for weight of shape ", o.weight.shape(), " and groups ", groups, ", got ",
        o.input.size(1), " in shape ", o.input.shape(), '.');
}

void check_bias(const Operands& o, std::int64_t channels) {
  check(!o.bias.defined() || o.bias.shape() == Shape{channels}, ErrorCode::kShapeMismatch, o.op,
        "bias must be a vector of ", channels, " elements for weight of shape ", o.weight.shape(),
        ", got shape ", o.bias.defined() ? o.bias.shape() : Shape{}, '.');
}

// Kernels copy the planes that they read with padding. To keep their computations of sizes from
// overflowing, a padded plane must not have more elements than could be allocated.
void check_padded_size(const Convolution& c) {
  CheckedInt count = c.in_channels / c.groups;
  for (std::size_t d = 0; d < 2; ++d) count = count * (CheckedInt(c.padding[d]) * 2 + c.in[d]);
  checked_count(count.value());
}

// With a single output position the stride is not used and may be any number.
void forget_unused_stride(Convolution& c, std::size_t d) {
  if (c.out[d] == 1) c.stride[d] = 1;
}

// Sets padding and output size of dimension d.
void set_extent(const Operands& o, Convolution& c, const Padding& padding, std::size_t d) {
  const std::int64_t reach = (CheckedInt(c.dilation[d]) * (c.kernel[d] - 1)).value();
  std::int64_t total = 2 * c.padding[d];
  if (padding.kind == Padding::Kind::kSame) {
    check(c.stride[d] == 1, ErrorCode::kInvalidArgument, o.op,
          "padding 'same' requires stride 1, got ", c.stride[d], '.');
    total = reach;
    c.padding[d] = total / 2;
  }
  const std::int64_t room = (CheckedInt(c.in[d]) + total - reach - 1).value();
  check(c.kernel[d] > 0 && room >= 0, ErrorCode::kShapeMismatch, o.op, "a kernel of size ",
        reach + 1, " does not fit a padded input of size ", c.in[d] + total, '.');
  c.out[d] = room / c.stride[d] + 1;
  forget_unused_stride(c, d);
}

// A convolution is linear in its input and in its weight. A complex one is computed from three real
// ones: of the real parts, of the imaginary parts, and of the sums of both.
template <class Convolve>
Tensor by_parts(const Operands& o, Convolve&& convolve) {
  const auto part = [&](auto&& take) {
    Operands real = o;
    for (Tensor* t : {&real.input, &real.weight, &real.bias}) {
      if (t->defined()) *t = take(*t);
    }
    return real;
  };
  const Operands sums = part([](const Tensor& t) { return Real::call(t) + Imag::call(t); });
  Operands imaginary = part(Imag::call);
  imaginary.bias = Tensor();
  const Var a = convolve(part(Real::call));
  const Var b = convolve(imaginary);
  return ToComplex::call(a - b, convolve(sums) - a - b);
}

Tensor convolution(const Operands& o, const Dims& stride, const Padding& padding,
                   const Dims& dilation, std::int64_t groups) {
  if (is_complex(o.input.dtype())) {
    return by_parts(o, [&](const Operands& real) {
      return convolution(real, stride, padding, dilation, groups);
    });
  }
  const Dims sizes = padding.kind == Padding::Kind::kSizes ? padding.sizes : Dims{0};
  Convolution c{.batch = o.input.size(0),
                .groups = groups,
                .in_channels = o.input.size(1),
                .out_channels = o.weight.size(0),
                .in = {o.input.size(2), o.input.size(3)},
                .kernel = {o.weight.size(2), o.weight.size(3)},
                .out = {0, 0},
                .stride = pair_of(stride, o.spatial, 1, "stride", o.op),
                .padding = pair_of(sizes, o.spatial, 0, "padding", o.op),
                .dilation = pair_of(dilation, o.spatial, 1, "dilation", o.op)};
  check_geometry(o, c);
  check_channels(o, groups, (CheckedInt(groups) * o.weight.size(1)).value());
  check_bias(o, c.out_channels);
  for (std::size_t d = 0; d < 2; ++d) set_extent(o, c, padding, d);
  check_padded_size(c);
  return as_given(o, ConvolutionPart<Part::kOut>::call(o.input, o.weight, c, o.bias));
}

// The input here is the output of the convolution that is transposed.
Tensor transposed_convolution(const Operands& o, const Dims& stride, const Dims& padding,
                              const Dims& output_padding, std::int64_t groups,
                              const Dims& dilation) {
  if (is_complex(o.input.dtype())) {
    return by_parts(o, [&](const Operands& real) {
      return transposed_convolution(real, stride, padding, output_padding, groups, dilation);
    });
  }
  Convolution c{.batch = o.input.size(0),
                .groups = groups,
                .in_channels = (CheckedInt(groups) * o.weight.size(1)).value(),
                .out_channels = o.weight.size(0),
                .in = {0, 0},
                .kernel = {o.weight.size(2), o.weight.size(3)},
                .out = {o.input.size(2), o.input.size(3)},
                .stride = pair_of(stride, o.spatial, 1, "stride", o.op),
                .padding = pair_of(padding, o.spatial, 0, "padding", o.op),
                .dilation = pair_of(dilation, o.spatial, 1, "dilation", o.op)};
  check_geometry(o, c);
  check_channels(o, groups, c.out_channels);
  check_bias(o, c.in_channels);
  const Convolution::Pair extra = pair_of(output_padding, o.spatial, 0, "outputPadding", o.op);
  for (std::size_t d = 0; d < 2; ++d) {
    check(extra[d] >= 0 && (extra[d] < c.stride[d] || extra[d] < c.dilation[d]),
          ErrorCode::kInvalidArgument, o.op,
          "outputPadding must be less than stride or dilation, got ", extra[d], " for stride ",
          c.stride[d], " and dilation ", c.dilation[d], '.');
    const CheckedInt reach = CheckedInt(c.dilation[d]) * (c.kernel[d] - 1);
    const CheckedInt last = CheckedInt(c.stride[d]) * (c.out[d] - 1);
    c.in[d] = (last - 2 * c.padding[d] + reach + extra[d] + 1).value();
    check(c.kernel[d] > 0 && c.in[d] > 0, ErrorCode::kShapeMismatch, o.op,
          "the output size must be positive, got ", c.in[d], " for input of shape ",
          o.input.shape(), '.');
    forget_unused_stride(c, d);
  }
  check_padded_size(c);
  return as_given(o, ConvolutionPart<Part::kIn>::call(o.input, o.weight, c, o.bias));
}

}  // namespace

Tensor Conv1d::call(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                    const Dims& stride, const Padding& padding, const Dims& dilation,
                    std::int64_t groups) {
  return convolution(make_operands(doc.name, 1, input, weight, bias), stride, padding, dilation,
                     groups);
}

Tensor Conv2d::call(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                    const Dims& stride, const Padding& padding, const Dims& dilation,
                    std::int64_t groups) {
  return convolution(make_operands(doc.name, 2, input, weight, bias), stride, padding, dilation,
                     groups);
}

Tensor ConvTranspose1d::call(const Tensor& input, const Tensor& weight,
                             const std::optional<Tensor>& bias, const Dims& stride,
                             const Dims& padding, const Dims& output_padding, std::int64_t groups,
                             const Dims& dilation) {
  return transposed_convolution(make_operands(doc.name, 1, input, weight, bias), stride, padding,
                                output_padding, groups, dilation);
}

Tensor ConvTranspose2d::call(const Tensor& input, const Tensor& weight,
                             const std::optional<Tensor>& bias, const Dims& stride,
                             const Dims& padding, const Dims& output_padding, std::int64_t groups,
                             const Dims& dilation) {
  return transposed_convolution(make_operands(doc.name, 2, input, weight, bias), stride, padding,
                                output_padding, groups, dilation);
}

}  // namespace eg
