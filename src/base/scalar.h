#pragma once

// A number given where a tensor could stand (x * 2). It remembers whether it was a bool, an integer
// or a float, because promotion treats these differently: a float scalar makes an integer tensor
// float32, and never widens a float tensor.

#include <cstdint>

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

  /// The value as any arithmetic type.
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, bool>) return is_float() ? float_ != 0 : int_ != 0;
    return is_float() ? static_cast<T>(float_) : static_cast<T>(int_);
  }

  /// The dtype of a tensor made from this value alone.
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
