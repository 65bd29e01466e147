#pragma once

// A number in the position of a tensor operand (x * 2). It remembers whether it was a bool, an
// integer or a float, because promotion treats these differently: a float scalar makes an integer
// tensor float32, and never widens a float tensor.

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/dtype.h"

namespace eg {

class Scalar {
 public:
  Scalar(double value) : kind_(Kind::kFloat), float_(value) {}
  Scalar(float value) : Scalar(static_cast<double>(value)) {}
  Scalar(std::int64_t value) : kind_(Kind::kInt), int_(value) {}
  Scalar(int value) : Scalar(static_cast<std::int64_t>(value)) {}
  Scalar(bool value) : kind_(Kind::kBool), int_(value ? 1 : 0) {}

  bool is_float() const { return kind_ == Kind::kFloat; }
  bool is_int() const { return kind_ == Kind::kInt; }
  bool is_bool() const { return kind_ == Kind::kBool; }

  /// Converts the value to any arithmetic type.
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, bool>) return is_float() ? float_ != 0 : int_ != 0;
    return is_float() ? static_cast<T>(float_) : static_cast<T>(int_);
  }

  /// Returns true if to<T>() preserves the value up to rounding. A negative integer may wrap around
  /// in an unsigned T, as in PyTorch.
  template <class T>
  bool fits() const {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool>) {
      return true;
    } else if constexpr (std::is_floating_point_v<T>) {
      return !is_float() || !std::isfinite(float_) ||
             std::abs(float_) <= static_cast<double>(Limits::max());
    } else if constexpr (!std::is_integral_v<T>) {
      return fits<typename T::value_type>();
    } else if (is_float()) {
      // The largest int64 is not a double: it rounds up to the first value that does not fit.
      const double largest = static_cast<double>(Limits::max());
      return float_ >= static_cast<double>(Limits::min()) &&
             (sizeof(T) < sizeof(float_) ? float_ <= largest : float_ < largest);
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      return true;
    } else if constexpr (std::is_unsigned_v<T>) {
      return int_ <= Limits::max() && int_ >= -static_cast<std::int64_t>(Limits::max());
    } else {
      return int_ <= Limits::max() && int_ >= Limits::min();
    }
  }

  /// The dtype of a tensor made from this value.
  DType dtype() const {
    if (is_float()) return DType::kFloat32;
    return is_int() ? DType::kInt64 : DType::kBool;
  }

 private:
  enum class Kind : std::uint8_t { kBool, kInt, kFloat };
  Kind kind_;
  union {
    double float_;
    std::int64_t int_;
  };
};

}  // namespace eg
