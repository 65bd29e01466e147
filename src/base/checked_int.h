#pragma once

// Integers that the user passes may have any value. Formulas over them use CheckedInt, whose
// operators throw when a result does not fit into 64 bits instead of wrapping around. The sizes of
// a tensor's shape do not need this: shapes are validated when they are made (shape.h), and
// products of their sizes fit.

#include <concepts>
#include <cstdint>

namespace eg {

/// A 64-bit integer whose +, - and * throw InvalidArgument instead of overflowing.
class CheckedInt {
 public:
  constexpr CheckedInt(std::int64_t value) : value_(value) {}

  constexpr std::int64_t value() const { return value_; }

  friend CheckedInt operator+(CheckedInt a, CheckedInt b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a.value_, b.value_, &sum) ? overflow() : sum;
  }
  friend CheckedInt operator-(CheckedInt a, CheckedInt b) {
    std::int64_t difference = 0;
    return __builtin_sub_overflow(a.value_, b.value_, &difference) ? overflow() : difference;
  }
  friend CheckedInt operator*(CheckedInt a, CheckedInt b) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(a.value_, b.value_, &product) ? overflow() : product;
  }
  CheckedInt& operator+=(CheckedInt other) { return *this = *this + other; }

 private:
  [[noreturn]] static std::int64_t overflow();

  std::int64_t value_;
};

/// Returns `value` as a number of entries in memory; throws OutOfMemory when no memory could hold
/// that many.
std::size_t checked_count(std::int64_t value);

/// Returns `value` as an integer; throws InvalidArgument unless it is one that JavaScript
/// represents exactly. Sums of a few such numbers fit into 64 bits.
std::int64_t checked_integer(double value);

}  // namespace eg
