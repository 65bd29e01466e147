#include "ops/complex/complex.h"

#include <numbers>
#include <utility>

#include "dispatch/factories.h"
#include "dispatch/precision.h"
#include "dispatch/var.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/shape/slice.h"
#include "ops/sparse/sparse_parts.h"

namespace eg {
namespace {

// The real (0) or imaginary (1) part of a complex tensor as a view that is not recorded.
Tensor part(const Tensor& t, std::int64_t which) {
  const Tensor parts = parts_of(t);
  Shape shape = parts.shape();
  Strides strides = parts.strides();
  shape.pop_back();
  strides.pop_back();
  return parts.alias(shape, strides, parts.offset() + which);
}

// Strides counted in pairs; the caller has checked that they are even.
Strides halved(Strides strides) {
  for (std::int64_t& stride : strides) stride /= 2;
  return strides;
}

void check_pairs(const Tensor& t) {
  constexpr std::string_view kOp = ViewAsComplex::doc.name;
  check(is_floating(t.dtype()) && t.dtype() != DType::kBFloat16, ErrorCode::kDtypeMismatch, kOp,
        "expected a tensor of float16, float32 or float64, got ", t.dtype(), '.');
  check(t.ndim() > 0, ErrorCode::kShapeMismatch, kOp,
        "expected at least 1 dimension, got a 0-dim tensor.");
  check(t.shape().back() == 2, ErrorCode::kShapeMismatch, kOp,
        "the last dimension must have size 2, got shape ", t.shape(), '.');
  check(t.strides().back() == 1, ErrorCode::kShapeMismatch, kOp,
        "the last dimension must have stride 1. Call contiguous() first.");
  for (std::size_t d = 0; d + 1 < t.shape().size(); ++d) {
    check(t.strides()[d] % 2 == 0, ErrorCode::kShapeMismatch, kOp,
          "all strides but the last must be even, got ", t.strides(), '.');
  }
  check(t.offset() % 2 == 0, ErrorCode::kShapeMismatch, kOp,
        "the storage offset must be even, got ", t.offset(), '.');
}

}  // namespace

PairGeometry::PairGeometry(Shape of_shape, Strides of_strides)
    : shape(std::move(of_shape)), strides(std::move(of_strides)) {
  for (std::int64_t& stride : strides) stride *= 2;
  shape.push_back(2);
  strides.push_back(1);
}

Tensor parts_of(const Tensor& t) {
  const PairGeometry pairs(t.shape(), t.strides());
  return t.alias_as(real_dtype(t.dtype()), pairs.shape, pairs.strides, 2 * t.offset());
}

Tensor joined_parts(const Tensor& parts) {
  Shape shape = parts.shape();
  Strides strides = parts.strides();
  shape.pop_back();
  strides.pop_back();
  return parts.alias_as(complex_dtype(parts.dtype()), shape, halved(std::move(strides)),
                        parts.offset() / 2);
}

Tensor ViewAsReal::call(const Tensor& input) {
  check(is_complex(input.dtype()), ErrorCode::kDtypeMismatch, doc.name,
        "expected a complex tensor, got ", input.dtype(), '.');
  const Tensor view = parts_of(input);
  record_views_of(input, {&view, 1}, NodeMaker::of<ViewAsReal>({}), CreationMeta::kDefault);
  return view;
}

GradList ViewAsReal::backward(const Backward<ViewAsReal>& b) {
  const Tensor& g = b.grad();
  return {ViewAsComplex::call(Contiguous::call(g))};
}

Tensor ViewAsComplex::call(const Tensor& input) {
  check_pairs(input);
  const Tensor view = joined_parts(input);
  record_views_of(input, {&view, 1}, NodeMaker::of<ViewAsComplex>({}), CreationMeta::kDefault);
  return view;
}

GradList ViewAsComplex::backward(const Backward<ViewAsComplex>& b) {
  return {ViewAsReal::call(b.grad())};
}

Tensor Real::call(const Tensor& input) {
  return is_complex(input.dtype()) ? Select::call(ViewAsReal::call(input), -1, 0) : input;
}

Tensor Imag::call(const Tensor& input) {
  check(is_complex(input.dtype()), ErrorCode::kDtypeMismatch, doc.name,
        "expected a complex tensor, got ", input.dtype(), '.');
  return Select::call(ViewAsReal::call(input), -1, 1);
}

Tensor Conj::call(const Tensor& input) {
  if (!is_complex(input.dtype())) return input;
  if (input.is_sparse()) {
    const Pieces pieces(input);
    return with_values(pieces.shape, pieces.pattern, call(pieces.values));
  }
  const Tensor result = empty_like(input);
  copy_data(result, input);
  const Tensor imaginary = part(result, 1);
  const std::array<const Tensor*, 1> operand{&imaginary};
  const DType dtype = computed_dtype(imaginary.dtype());
  const ElementwiseInfo& neg = elementwise_info<op::Neg>();
  run_formula({.op = neg.name,
               .on_cpu = neg.forward[static_cast<std::size_t>(dtype)],
               .shader_numbers = neg.shader_numbers},
              dtype, dtype, imaginary, operand);
  return record<Conj>(result, {input}, {});
}

GradList Conj::backward(const Backward<Conj>& b) { return {Conj::call(b.grad())}; }

Tensor Angle::call(const Tensor& input) {
  if (is_integral(input.dtype())) return call(ToDType::call(input, default_dtype()));
  Var angle = 0;
  if (is_complex(input.dtype())) {
    angle = atan2(part(input, 1), part(input, 0));
  } else {
    const Var x = detach(input);
    const Var turned = where(x < 0, full_like(input, std::numbers::pi), full_like(input, 0));
    angle = where(x != x, x, turned);
  }
  return record<Angle>(angle, {input}, {}, {{input}});
}

// The gradient is g i z / |z|^2, and 0 at the origin, where the angle is undefined. The angle of a
// real number is piecewise constant.
GradList Angle::backward(const Backward<Angle>& b) {
  const Tensor z = b.saved(0);
  if (!is_complex(z.dtype())) return {full_like(z, 0)};
  const Var re = Real::call(z);
  const Var im = Imag::call(z);
  const Var square = re * re + im * im;
  const Var is_zero = square == 0;
  const Var scaled = where(is_zero, 0, b.grad() / where(is_zero, 1, square));
  return {ToComplex::call(-im * scaled, re * scaled)};
}

Tensor ToComplex::call(const Tensor& real, const Tensor& imag) {
  check(is_floating(real.dtype()) && is_floating(imag.dtype()), ErrorCode::kDtypeMismatch, doc.name,
        "real and imag must be float32 or float64, got ", real.dtype(), " and ", imag.dtype(), '.');
  check(real.dtype() == imag.dtype(), ErrorCode::kDtypeMismatch, doc.name,
        "real and imag must have the same dtype, got ", real.dtype(), " and ", imag.dtype(), '.');
  check(real.device() == imag.device(), ErrorCode::kDeviceMismatch, doc.name,
        "expected both tensors on one device, got ", real.device(), " and ", imag.device(), '.');
  const Tensor result = Tensor::empty(broadcast_shapes(real.shape(), imag.shape(), doc.name),
                                      complex_dtype(real.dtype()), real.device());
  copy_data(part(result, 0), real);
  copy_data(part(result, 1), imag);
  return record<ToComplex>(result, {real, imag}, {});
}

GradList ToComplex::backward(const Backward<ToComplex>& b) {
  GradList grads(2);
  if (b.needs(0)) grads[0] = Real::call(b.grad());
  if (b.needs(1)) grads[1] = Imag::call(b.grad());
  return grads;
}

Tensor Polar::call(const Tensor& abs, const Tensor& angle) {
  check(is_floating(abs.dtype()) && is_floating(angle.dtype()), ErrorCode::kDtypeMismatch, doc.name,
        "abs and angle must be float32 or float64, got ", abs.dtype(), " and ", angle.dtype(), '.');
  check(abs.dtype() == angle.dtype(), ErrorCode::kDtypeMismatch, doc.name,
        "abs and angle must have the same dtype, got ", abs.dtype(), " and ", angle.dtype(), '.');
  const Var radius = abs;
  const Var direction = angle;
  return ToComplex::call(radius * cos(direction), radius * sin(direction));
}

}  // namespace eg
