#pragma once

// Element types and PyTorch's type promotion rules.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/type_list.h"

namespace eg {

/// Element types. The values are part of the calling convention of the bindings.
enum class DType : std::uint8_t {
  kFloat32,
  kFloat64,
  kInt32,
  kInt64,
  kUInt8,
  kBool,
  kComplex64,
  kComplex128,
  kFloat16,
  kBFloat16,
  kInt8,
  kInt16,
  kComplex32,
  kFloat8E4m3fn,
  kFloat8E5m2,
  kUInt16,
  kUInt32,
  kUInt64,
};
inline constexpr std::size_t kDTypeCount = 18;
/// The dtypes that have kernels; they are the first ones of the enum. The others are only stored.
inline constexpr std::size_t kComputedDTypeCount = 8;

using RealTypes = TypeList<float, double, std::int32_t, std::int64_t, std::uint8_t, bool>;
using ComplexTypes = TypeList<std::complex<float>, std::complex<double>>;

/// The public name, for example "float32".
std::string_view dtype_name(DType dtype);
/// Bytes per element.
std::size_t item_size(DType dtype);
/// The largest finite number of a stored floating-point dtype, or of the parts of a complex one.
double largest_stored(DType dtype);

constexpr bool is_complex(DType t) {
  return t == DType::kComplex64 || t == DType::kComplex128 || t == DType::kComplex32;
}
/// True for the floating-point dtypes of two bytes, which are computed in float32.
constexpr bool is_half(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }
/// True for the floating-point dtypes of one byte, which are computed in float32. They promote to
/// no other dtype.
constexpr bool is_float8(DType t) { return t == DType::kFloat8E4m3fn || t == DType::kFloat8E5m2; }
constexpr bool is_floating(DType t) {
  return t == DType::kFloat32 || t == DType::kFloat64 || is_half(t) || is_float8(t);
}
/// True for the dtypes that have no kernels: memory holds them, and they are computed in another.
constexpr bool is_stored(DType t) { return static_cast<std::size_t>(t) >= kComputedDTypeCount; }
/// True for the unsigned integers of more than one byte. They promote with floats only.
constexpr bool is_wide_unsigned(DType t) {
  return t == DType::kUInt16 || t == DType::kUInt32 || t == DType::kUInt64;
}
/// True for the integers that are computed in a wider dtype, of which the result is the last bits.
constexpr bool is_stored_integer(DType t) {
  return t == DType::kInt8 || t == DType::kInt16 || is_wide_unsigned(t);
}
/// The dtype that elements of this one are computed in.
constexpr DType computed_dtype(DType t) {
  if (!is_stored(t)) return t;
  if (t == DType::kUInt32 || t == DType::kUInt64) return DType::kInt64;
  if (is_stored_integer(t)) return DType::kInt32;
  return is_complex(t) ? DType::kComplex64 : DType::kFloat32;
}
constexpr bool is_integral(DType t) { return !is_complex(t) && !is_floating(t); }
/// True for the dtypes that can require a gradient.
constexpr bool is_differentiable(DType t) { return is_complex(t) || is_floating(t); }

/// The dtype of the real and the imaginary part; a real dtype is returned unchanged.
constexpr DType real_dtype(DType t) {
  if (t == DType::kComplex64) return DType::kFloat32;
  if (t == DType::kComplex32) return DType::kFloat16;
  return t == DType::kComplex128 ? DType::kFloat64 : t;
}
/// The complex dtype whose parts have the given floating dtype; for bfloat16, complex64.
constexpr DType complex_dtype(DType parts) {
  if (parts == DType::kFloat16) return DType::kComplex32;
  return parts == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}

/// Returns the result dtype of an operation on two tensors of these dtypes.
DType promote_types(DType a, DType b);

inline void append_text(std::string& out, DType dtype) { append_text(out, dtype_name(dtype)); }

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::kFloat32;
  if constexpr (std::is_same_v<T, double>) return DType::kFloat64;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::kInt32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::kInt64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::kUInt8;
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_same_v<T, std::complex<float>>) return DType::kComplex64;
  if constexpr (std::is_same_v<T, std::complex<double>>) return DType::kComplex128;
}

namespace detail {

/// Calls a visitor with any type but float. It is a function of its own, because a page that
/// computes with float32 should not have to download the code for all other types first
/// (scripts/split/README.md).
template <class T, class Visit>
[[gnu::noinline]] decltype(auto) visit_as(Visit& visit) {
  return visit.template operator()<T>();
}

}  // namespace detail

/// Calls `visit.template operator()<T>()` with the C++ type of a real dtype.
template <class Visit>
decltype(auto) visit_dtype(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::kFloat32:
      return visit.template operator()<float>();
    case DType::kFloat64:
      return detail::visit_as<double>(visit);
    case DType::kInt32:
      return detail::visit_as<std::int32_t>(visit);
    case DType::kInt64:
      return detail::visit_as<std::int64_t>(visit);
    case DType::kUInt8:
      return detail::visit_as<std::uint8_t>(visit);
    case DType::kBool:
      return detail::visit_as<bool>(visit);
    default:
      fail(ErrorCode::kDtypeMismatch, "expected a real dtype, got ", dtype,
           ". Call real(), imag() or abs() first.");
  }
}

/// visit_dtype for kernels that support complex numbers too.
template <class Visit>
decltype(auto) visit_any_dtype(DType dtype, Visit&& visit) {
  if (dtype == DType::kComplex64) return detail::visit_as<std::complex<float>>(visit);
  if (dtype == DType::kComplex128) return detail::visit_as<std::complex<double>>(visit);
  return visit_dtype(dtype, std::forward<Visit>(visit));
}

/// visit_dtype for kernels that support float32 and float64 only; the error names `op`.
template <class Visit>
decltype(auto) visit_floating(DType dtype, std::string_view op, Visit&& visit) {
  switch (dtype) {
    case DType::kFloat32:
      return visit.template operator()<float>();
    case DType::kFloat64:
      return detail::visit_as<double>(visit);
    default:
      fail(ErrorCode::kDtypeMismatch, '[', op, "] expected float32 or float64, got ", dtype,
           ". Convert with to('float32').");
  }
}

}  // namespace eg
