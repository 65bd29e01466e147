#include "dispatch/factories.h"

#include <cmath>
#include <complex>

#include "dispatch/transfer.h"
#include "kernels/copy.h"

namespace eg {
namespace {

// Not inlined: that would put it into the core of the download.
[[gnu::noinline]] bool fits_stored(Scalar value, DType dtype) {
  if (dtype == DType::kInt8) return value.fits<std::int8_t>();
  if (dtype == DType::kInt16) return value.fits<std::int16_t>();
  if (dtype == DType::kUInt16) return value.fits<std::uint16_t>();
  if (dtype == DType::kUInt32) return value.fits<std::uint32_t>();
  if (dtype == DType::kUInt64) return value.fits<std::uint64_t>();
  const auto number = std::abs(value.to<double>());
  return number <= largest_stored(dtype) || !std::isfinite(number);
}

bool fits(Scalar value, DType dtype) {
  if (is_stored(dtype)) return fits_stored(value, dtype);
  return visit_any_dtype(dtype, [&]<class T>() { return value.fits<T>(); });
}

}  // namespace

Scalar scalar_of(const Tensor& number) {
  if (number.dtype() == DType::kFloat64) return *number.data_as<double>();
  if (number.dtype() == DType::kBool) return *number.data_as<bool>();
  return *number.data_as<std::int64_t>();
}

Tensor as_element(const Tensor& t, DType dtype) {
  if (!t.is_wrapped_number() || is_complex(dtype)) return t;
  if (is_complex(t.dtype())) {
    const auto value = *t.data_as<std::complex<double>>();
    if (value.imag() != 0) {
      fail(ErrorCode::kDtypeMismatch, "a number with an imaginary part does not fit ", dtype, '.');
    }
    return full({}, value.real(), dtype);
  }
  return full({}, scalar_of(t), dtype);
}

void check_integer_factor(std::string_view op, std::string_view name, Scalar factor, DType dtype) {
  check(!factor.is_float(), ErrorCode::kInvalidArgument, op, "for ", dtype, " tensors, ", name,
        " must be an integer, got ", factor.to<double>(), '.');
  check(fits(factor, dtype), ErrorCode::kInvalidArgument, op, name, " = ", factor.to<double>(),
        " does not fit ", dtype, '.');
}

Tensor scalar_tensor(Scalar value) {
  const DType dtype = value.is_float() ? DType::kFloat64 : value.dtype();
  Tensor t = full({}, value, dtype);
  t.set_wrapped_number();
  return t;
}

Tensor full(const Shape& shape, Scalar value, DType dtype, Device device) {
  Tensor t = Tensor::empty(shape, dtype, device);
  fill_dense(t, value);
  return t;
}

void fill_dense(const Tensor& t, Scalar value) {
  if (!fits(value, t.dtype())) {
    fail(ErrorCode::kInvalidArgument, "the value ", value.to<double>(), " does not fit ", t.dtype(),
         '.');
  }
  run(kernel::Fill{t.numel(), value, t.memory()});
}

Tensor empty_like(const Tensor& t) { return empty_with_layout_of(t, t.dtype()); }

Tensor empty_with_layout_of(const Tensor& t, DType dtype) {
  Tensor result = Tensor::empty(t.shape(), dtype, t.device());
  if (t.is_contiguous() || !is_non_overlapping_and_dense(t.shape(), t.strides())) return result;
  return result.alias(t.shape(), t.strides(), 0);
}

Tensor full_like(const Tensor& t, Scalar value) {
  return full(t.shape(), value, t.dtype(), t.device());
}

Tensor contiguous_copy(const Tensor& t) {
  Tensor copy = Tensor::empty(t.shape(), t.dtype(), t.device());
  copy_data(copy, t);
  return copy;
}

Tensor packed(const Tensor& t) {
  return !t.defined() || t.is_contiguous() ? t : contiguous_copy(t);
}

void copy_data(const Tensor& destination, const Tensor& source) {
  if (destination.device() != source.device()) [[unlikely]]
    return transfer(destination, source);
  const Strides strides =
      source.shape() == destination.shape()
          ? source.strides()
          : broadcast_strides(source.shape(), source.strides(), destination.shape());
  run(kernel::Copy{destination.shape(), destination.memory(), destination.strides(),
                   source.memory(), strides});
}

}  // namespace eg
