#include "dispatch/factories.h"

#include <cmath>
#include <complex>
#include <string_view>

#include "base/half.h"
#include "dispatch/transfer.h"
#include "kernels/copy.h"

namespace eg {
namespace {

// As PyTorch's sentences call them.
template <class T>
constexpr std::string_view kTypeName{};
template <>
constexpr std::string_view kTypeName<float> = "float";
template <>
constexpr std::string_view kTypeName<double> = "double";
template <>
constexpr std::string_view kTypeName<std::int32_t> = "int";
template <>
constexpr std::string_view kTypeName<std::int64_t> = "int64_t";
template <>
constexpr std::string_view kTypeName<std::uint8_t> = "uint8_t";
template <>
constexpr std::string_view kTypeName<bool> = "bool";
template <>
constexpr std::string_view kTypeName<std::complex<float>> = "c10::complex<float>";
template <>
constexpr std::string_view kTypeName<std::complex<double>> = "c10::complex<double>";

[[noreturn]] void fail_overflow(Scalar value, std::string_view type, DType dtype) {
  fail(ErrorCode::kInvalidArgument, "value cannot be converted to type ", type,
       " without overflow: ", value.to<double>(), " does not fit ", dtype, '.');
}

template <class T>
void check_fits(Scalar value) {
  if (!value.fits<T>()) fail_overflow(value, kTypeName<T>, dtype_of<T>());
}

void check_fits_half(Scalar value, DType dtype) {
  const bool is_float16 = dtype == DType::kFloat16;
  const auto number = std::abs(value.to<double>());
  if (number <= (is_float16 ? kMaxFloat16 : kMaxBFloat16) || !std::isfinite(number)) return;
  fail_overflow(value, is_float16 ? "c10::Half" : "c10::BFloat16", dtype);
}

// The number behind a wrapped one that is real.
Scalar scalar_of(const Tensor& t) {
  if (t.dtype() == DType::kFloat64) return *t.data_as<double>();
  return t.dtype() == DType::kBool ? Scalar(*t.data_as<bool>()) : *t.data_as<std::int64_t>();
}

}  // namespace

Tensor as_element(const Tensor& t, DType dtype) {
  if (!t.is_wrapped_number() || is_complex(dtype)) return t;
  if (is_complex(t.dtype())) {
    const auto value = *t.data_as<std::complex<double>>();
    if (value.imag() != 0) {
      fail(ErrorCode::kDtypeMismatch, "value cannot be converted to type ", dtype,
           " without overflow: it has an imaginary part.");
    }
    return full({}, value.real(), dtype);
  }
  return full({}, scalar_of(t), dtype);
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
  if (is_half(t.dtype()))
    check_fits_half(value, t.dtype());
  else
    visit_any_dtype(t.dtype(), [&]<class T>() { check_fits<T>(value); });
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
