#include "ops/matrix/quantized.h"

#include <algorithm>

#include "autograd/tensor_math.h"
#include "dispatch/factories.h"
#include "dispatch/optional_memory.h"
#include "formulas/all.h"
#include "kernels/quantized.h"
#include "ops/create/copy.h"
#include "ops/matrix/matmul.h"
#include "ops/matrix/matrix_product.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

using kernel::CodeLayout;
using kernel::kColumnsAtOnce;

void check_matrix(std::string_view op, std::string_view name, const Tensor& matrix) {
  check(matrix.ndim() == 2, ErrorCode::kShapeMismatch, op, name, " must be a matrix, got shape ",
        matrix.shape(), '.');
}

std::int64_t whole_row(std::int64_t columns) {
  return std::max(divide_up(columns, kColumnsAtOnce), std::int64_t{1}) * kColumnsAtOnce;
}

CodeLayout checked_layout(std::string_view op, std::int64_t rows, std::int64_t columns,
                          std::int64_t bits, std::optional<std::int64_t> group_size) {
  check(bits == 4 || bits == 8, ErrorCode::kInvalidArgument, op, "bits must be 4 or 8, got ", bits,
        '.');
  const std::int64_t whole = whole_row(columns);
  const std::int64_t group = group_size.value_or(whole);
  check(group > 0 && group % kColumnsAtOnce == 0, ErrorCode::kInvalidArgument, op,
        "groupSize must be a positive multiple of ", kColumnsAtOnce, ", got ", group, '.');
  return {rows, columns, bits, std::min(group, whole)};
}

void check_codes(std::string_view op, std::string_view name, const Tensor& codes) {
  check(codes.dtype() == DType::kUInt8, ErrorCode::kDtypeMismatch, op, name, " must be uint8, got ",
        codes.dtype(), '.');
  check_matrix(op, name, codes);
}

void check_scale(std::string_view op, const Tensor& scale, const Tensor& codes,
                 const CodeLayout& layout) {
  const Shape expected{layout.rows, layout.groups()};
  check(scale.shape() == expected, ErrorCode::kShapeMismatch, op,
        "scale must have the shape [rows, groups], ", expected, ", got ", scale.shape(), '.');
  check(is_floating(scale.dtype()), ErrorCode::kDtypeMismatch, op,
        "scale must be floating-point, got ", scale.dtype(), '.');
  check_same_device(op, codes.device(), scale.device());
}

bool is_differentiated(const Tensor& t) {
  return (ops_are_recorded() && requires_grad(t)) || tangent(t).defined();
}

bool is_empty(const Tensor& input, const CodeLayout& layout) {
  return input.numel() == 0 || layout.rows == 0;
}

// The number that each code stands for, as ops.
Tensor numbers_of(const Tensor& codes, const Tensor& scale, const CodeLayout& layout) {
  Tensor whole = codes;
  if (layout.bits == 4) {
    const TensorList halves{call<op::BitwiseAnd>(codes, Operand(15)),
                            call<op::BitwiseRightShift>(codes, Operand(4))};
    const Tensor pairs = Reshape::call(Stack::call(halves, -1), {layout.rows, 2 * codes.size(1)});
    whole = Narrow::call(pairs, 1, 0, layout.columns);
  }
  const Operand zero(static_cast<double>(1 << (layout.bits - 1)));
  const Tensor centered = call<op::Sub>(ToDType::call(whole, scale.dtype()), zero);
  if (layout.groups() == 1) return call<op::Mul>(centered, scale);
  const Tensor spread =
      Expand::call(Unsqueeze::call(scale, 2), {layout.rows, layout.groups(), layout.group});
  const Tensor of_columns = Reshape::call(spread, {layout.rows, layout.groups() * layout.group});
  return call<op::Mul>(centered, Narrow::call(of_columns, 1, 0, layout.columns));
}

// X Wᵀ + bias, or turned X W. Either is the gradient of the other. A weight of half precision has
// no scale.
struct Product {
  static constexpr op::Doc doc = QuantizedLinear::doc;
  struct Attrs {
    CodeLayout layout;
    bool turned;
    Shape bias_shape;
  };
  static constexpr std::array<std::string_view, 2> saved_names{"weight", "scale"};

  static Tensor multiply(const Tensor& input, const Tensor& weight, const Tensor& scale,
                         const Tensor& bias, const CodeLayout& layout, bool turned) {
    Shape shape = input.shape();
    const std::int64_t count = numel(shape) / shape.back();
    shape.back() = turned ? layout.columns : layout.rows;
    const Tensor out = Tensor::empty(shape, input.dtype(), input.device());
    const Tensor x = packed(input);
    const Tensor codes = packed(weight);
    const Tensor scales = packed(scale);
    const Tensor addend = packed(bias);
    run(kernel::QuantizedProduct{count, layout, turned, x.memory(), codes.memory(),
                                 optional_memory(scales), optional_memory(addend), out.memory()});
    return record<Product>(out, {input, bias},
                           {layout, turned, bias.defined() ? bias.shape() : Shape()},
                           {{weight}, {scale}});
  }

  static GradList backward(const Backward<Product>& b) {
    const auto& [layout, turned, bias_shape] = b.attrs();
    GradList grads(2);
    if (b.needs(0)) grads[0] = multiply(b.grad(), b.saved(0), b.saved(1), {}, layout, !turned);
    if (b.needs(1)) grads[1] = math::sum_to(b.grad(), bias_shape);
    return grads;
  }
};

}  // namespace

TensorList Quantize::call(const Tensor& input, std::int64_t bits,
                          std::optional<std::int64_t> group_size) {
  check_matrix(doc.name, "input", input);
  check(is_floating(input.dtype()) || is_half(input.dtype()), ErrorCode::kDtypeMismatch, doc.name,
        "expected floating-point numbers, got ", input.dtype(), '.');
  const CodeLayout layout =
      checked_layout(doc.name, input.size(0), input.size(1), bits, group_size);
  const Device device = input.device();
  const Tensor codes = Tensor::empty({layout.rows, layout.row_bytes()}, DType::kUInt8, device);
  const Tensor scales = Tensor::empty({layout.rows, layout.groups()}, DType::kFloat32, device);
  const Tensor x = packed(ToDType::call(detach(input), DType::kFloat32));
  if (layout.rows > 0) run(kernel::Quantize{layout, x.memory(), codes.memory(), scales.memory()});
  return {codes, scales};
}

Tensor Dequantize::call(const Tensor& input, const Tensor& scale, std::int64_t bits,
                        std::optional<std::int64_t> group_size) {
  check_codes(doc.name, "input", input);
  const std::int64_t columns = bits == 4 ? input.size(1) * 2 : input.size(1);
  const CodeLayout layout = checked_layout(doc.name, input.size(0), columns, bits, group_size);
  check_scale(doc.name, scale, input, layout);
  return numbers_of(input, scale, layout);
}

Tensor QuantizedLinear::call(const Tensor& input, const Tensor& weight, const Tensor& scale,
                             const std::optional<Tensor>& bias, std::int64_t bits,
                             std::optional<std::int64_t> group_size) {
  check(input.ndim() >= 1 && is_floating(input.dtype()), ErrorCode::kDtypeMismatch, doc.name,
        "input must be floating-point with at least 1 dimension, got ", input.dtype(), " of shape ",
        input.shape(), '.');
  check_codes(doc.name, "weight", weight);
  const CodeLayout layout =
      checked_layout(doc.name, weight.size(0), input.size(-1), bits, group_size);
  check(weight.size(1) == layout.row_bytes(), ErrorCode::kShapeMismatch, doc.name,
        "weight must have ", layout.row_bytes(), " bytes per row for the ", layout.columns,
        " features of input and ", bits, " bits, got shape ", weight.shape(), '.');
  check_scale(doc.name, scale, weight, layout);
  check_same_device(doc.name, input.device(), weight.device());
  if (bias) {
    const Shape expected{layout.rows};
    check(bias->shape() == expected, ErrorCode::kShapeMismatch, doc.name,
          "bias must have the shape ", expected, ", got ", bias->shape(), '.');
    check_operands(doc.name, input, *bias);
  }
  const Tensor scales = ToDType::call(scale, input.dtype());
  const bool is_formula =
      input.dtype() != DType::kFloat32 || is_empty(input, layout) || is_differentiated(scales);
  if (is_formula) return Linear::call(input, numbers_of(weight, scales, layout), bias);
  return Product::multiply(input, weight, scales, bias.value_or(Tensor()), layout, false);
}

std::optional<Tensor> linear_of_halves(const Tensor& input, const Tensor& weight,
                                       const std::optional<Tensor>& bias) {
  const bool is_plain = input.ndim() >= 1 && weight.ndim() == 2 && is_half(weight.dtype()) &&
                        (input.dtype() == weight.dtype() || input.dtype() == DType::kFloat32) &&
                        input.size(-1) == weight.size(1) && weight.is_contiguous() &&
                        input.device().is_cpu() && weight.device().is_cpu() &&
                        !is_differentiated(weight);
  if (!is_plain) return {};
  const CodeLayout layout{weight.size(0), weight.size(1), 16, whole_row(weight.size(1))};
  const bool is_wide = input.dtype() == DType::kFloat32;
  const bool has_plain_bias =
      !bias || (bias->shape() == Shape{layout.rows} && bias->device().is_cpu() &&
                (bias->dtype() == input.dtype() || (is_wide && is_half(bias->dtype()))));
  if (is_empty(input, layout) || !has_plain_bias) return {};
  const Tensor addend = bias ? ToDType::call(*bias, DType::kFloat32) : Tensor();
  const Tensor x = ToDType::call(input, DType::kFloat32);
  return ToDType::call(Product::multiply(x, weight, {}, addend, layout, false), input.dtype());
}

}  // namespace eg
