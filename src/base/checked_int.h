#pragma once

// Whole numbers that came from outside may be anything. Formulas over them are written with
// CheckedInt, which looks like arithmetic and throws where a result would leave 64 bits, instead of
// going on with another number. What a tensor's shape says needs none of that: shapes are checked
// where they are made (shape.h), and products of their sizes fit.

#include <concepts>
#include <cstdint>

namespace eg {

/// A 64-bit whole number; +, - and * throw InvalidArgument instead of overflowing.
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

/// `value` as a count of things in memory; OutOfMemory where no memory could hold as many.
std::size_t checked_count(std::int64_t value);

/// A whole number that JavaScript counts exactly; InvalidArgument for all others. Sums of a few
/// such numbers fit into 64 bits.
std::int64_t checked_integer(double value);

}  // namespace eg
