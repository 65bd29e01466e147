#include "ops/complex/complex.h"

#include <numbers>
#include <utility>

#include "dispatch/factories.h"
#include "dispatch/precision.h"
#include "dispatch/var.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/shape/slice.h"

namespace eg {
namespace {

// Part 0 or 1 of a complex tensor's memory, not recorded.
Tensor part(const Tensor& t, std::int64_t which) {
  const Tensor parts = parts_of(t);
  Shape shape = parts.shape();
  Strides strides = parts.strides();
  shape.pop_back();
  strides.pop_back();
  return parts.alias(shape, strides, parts.offset() + which);
}

// Steps counted in pairs; whoever asks has checked that they are whole.
Strides halved(Strides strides) {
  for (std::int64_t& stride : strides) stride /= 2;
  return strides;
}

void check_pairs(const Tensor& t) {
  constexpr std::string_view kOp = ViewAsComplex::doc.name;
  check(is_floating(t.dtype()), ErrorCode::kDtypeMismatch, kOp,
        "view_as_complex is only supported for floating point tensors, but got a tensor of dtype ",
        t.dtype(), '.');
  check(t.ndim() > 0, ErrorCode::kShapeMismatch, kOp,
        "Input tensor must have one or more dimensions.");
  check(t.shape().back() == 2, ErrorCode::kShapeMismatch, kOp,
        "Tensor must have a last dimension of size 2, got shape ", t.shape(), '.');
  check(t.strides().back() == 1, ErrorCode::kShapeMismatch, kOp,
        "Tensor must have a last dimension with stride 1; call contiguous() first.");
  for (std::size_t d = 0; d + 1 < t.shape().size(); ++d) {
    check(t.strides()[d] % 2 == 0, ErrorCode::kShapeMismatch, kOp,
          "Tensor must have a stride divisible by 2 for all but last dimension, got strides ",
          t.strides(), '.');
  }
  check(t.offset() % 2 == 0, ErrorCode::kShapeMismatch, kOp,
        "Tensor must have a storage_offset divisible by 2, got ", t.offset(), '.');
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
        "view_as_real is only supported for complex tensors, got ", input.dtype(), '.');
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
        "imag is not implemented for tensors with non-complex dtypes, got ", input.dtype(), '.');
  return Select::call(ViewAsReal::call(input), -1, 1);
}

Tensor Conj::call(const Tensor& input) {
  if (!is_complex(input.dtype())) return input;
  const Tensor result = empty_like(input);
  copy_data(result, input);
  const Tensor imaginary = part(result, 1);
  const std::array<const Tensor*, 1> operand{&imaginary};
  const DType dtype = imaginary.dtype();
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
    angle = atan2(Var(part(input, 1)), Var(part(input, 0)));
  } else {
    const Var x = detach(input);
    const Var turned = where(x < 0, full_like(input, std::numbers::pi), full_like(input, 0));
    angle = where(x != x, x, turned);
  }
  return record<Angle>(angle.tensor(), {input}, {}, {{input}});
}

// g i z / |z|^2, and 0 at the origin, where there is no direction. A real number has none but two.
GradList Angle::backward(const Backward<Angle>& b) {
  const Tensor z = b.saved(0);
  if (!is_complex(z.dtype())) return {full_like(z, 0)};
  const Var re = Real::call(z);
  const Var im = Imag::call(z);
  const Var square = re * re + im * im;
  const Var is_zero = square == 0;
  const Var scaled = where(is_zero, 0, Var(b.grad()) / where(is_zero, 1, square));
  return {ToComplex::call((-im * scaled).tensor(), (re * scaled).tensor())};
}

Tensor ToComplex::call(const Tensor& real, const Tensor& imag) {
  check(is_floating(real.dtype()) && is_floating(imag.dtype()), ErrorCode::kDtypeMismatch, doc.name,
        "Expected both inputs to be Float or Double tensors but got ", real.dtype(), " and ",
        imag.dtype(), '.');
  check(real.dtype() == imag.dtype(), ErrorCode::kDtypeMismatch, doc.name,
        "Expected object of dtype ", real.dtype(), " but got dtype ", imag.dtype(),
        " for the second argument.");
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
        "Expected both inputs to be Float or Double tensors but got ", abs.dtype(), " and ",
        angle.dtype(), '.');
  check(abs.dtype() == angle.dtype(), ErrorCode::kDtypeMismatch, doc.name,
        "Expected object of dtype ", abs.dtype(), " but got dtype ", angle.dtype(),
        " for the second argument.");
  const Var radius = abs;
  const Var direction = angle;
  return ToComplex::call((radius * cos(direction)).tensor(), (radius * sin(direction)).tensor());
}

}  // namespace eg
