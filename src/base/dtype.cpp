#include "base/dtype.h"

#include <algorithm>
#include <array>

#include "base/float8.h"

namespace eg {

std::string_view dtype_name(DType dtype) {
  static constexpr std::array<std::string_view, kDTypeCount> kNames{
      "float32",   "float64",       "int32",       "int64",    "uint8",  "bool",
      "complex64", "complex128",    "float16",     "bfloat16", "int8",   "int16",
      "complex32", "float8_e4m3fn", "float8_e5m2", "uint16",   "uint32", "uint64"};
  return kNames[static_cast<std::size_t>(dtype)];
}

std::size_t item_size(DType dtype) {
  static constexpr std::array<std::size_t, kDTypeCount> kSizes{4, 8, 4, 8, 1, 1, 8, 16, 2,
                                                               2, 1, 2, 4, 1, 1, 2, 4,  8};
  return kSizes[static_cast<std::size_t>(dtype)];
}

double largest_stored(DType dtype) {
  switch (dtype) {
    case DType::kBFloat16:
      return kMaxBFloat16;
    case DType::kFloat8E4m3fn:
      return kMaxFloat8E4m3fn;
    case DType::kFloat8E5m2:
      return kMaxFloat8E5m2;
    default:
      return kMaxFloat16;
  }
}

namespace {

// bool < integers < floats < complex: across categories the higher category's dtype wins, within a
// category the wider dtype. (promote_types handles complex with float64 separately.)
int category(DType t) {
  if (t == DType::kBool) return 0;
  if (is_integral(t)) return 1;
  return is_floating(t) ? 2 : 3;
}

}  // namespace

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  const bool is_one_wide_unsigned =
      (is_wide_unsigned(a) && is_integral(b)) || (is_wide_unsigned(b) && is_integral(a));
  if (is_float8(a) || is_float8(b) || is_one_wide_unsigned) {
    fail(ErrorCode::kDtypeMismatch, "there is no common dtype of ", a, " and ", b,
         ". Convert one with to().");
  }
  if (is_complex(a) != is_complex(b)) {
    const DType complex_type = is_complex(a) ? a : b;
    const DType other = is_complex(a) ? b : a;
    return is_floating(other) ? promote_types(complex_type, complex_dtype(other)) : complex_type;
  }
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  // Of these pairs neither represents all values of the other.
  if (is_half(a) && is_half(b)) return DType::kFloat32;
  if (item_size(a) == 1 && item_size(b) == 1) return DType::kInt16;
  return item_size(a) > item_size(b) ? a : b;
}

}  // namespace eg
