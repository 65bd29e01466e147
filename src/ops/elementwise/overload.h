#pragma once

// Elementwise ops that one formula cannot express: limits that are numbers or tensors, rounding
// modes, dtypes with a special rule. JavaScript calls the overload; other ops call the formula of
// the same name.

#include "dispatch/function_op.h"
#include "formulas/all.h"

namespace eg {

/// How div() rounds.
enum class RoundingMode : std::uint8_t { kNone, kFloor, kTrunc };
constexpr std::array<std::string_view, 3> enum_names(RoundingMode) {
  return {"null", "floor", "trunc"};
}

/// The function that replaces an elementwise op for JavaScript. Most ops have none.
template <class Op>
struct Overload {};

template <>
struct Overload<op::Div> {
  static constexpr std::array args{Arg{"input"}, Arg{"other"}, Arg{"rounding_mode", "null"}};
  static Tensor call(const Operand& input, const Operand& other, RoundingMode mode);
  static Tensor call_in_place(const Operand& input, const Operand& other, RoundingMode mode);
};

template <>
struct Overload<op::Clamp> {
  using Limit = std::optional<Operand>;
  static constexpr std::array args{Arg{"input"}, Arg{"min", "null"}, Arg{"max", "null"}};
  static Tensor call(const Operand& input, const Limit& min, const Limit& max);
  static Tensor call_in_place(const Operand& input, const Limit& min, const Limit& max);
};

template <>
struct Overload<op::BitwiseNot> {
  static constexpr std::array args{Arg{"input"}};
  static Tensor call(const Operand& input);
  static Tensor call_in_place(const Operand& input);
};

/// For integers, the limits are truncated.
template <>
struct Overload<op::Hardtanh> {
  static constexpr std::array args{Arg{"input"}, Arg{"min_val", "-1"}, Arg{"max_val", "1"}};
  static Tensor call(const Operand& input, double min_val, double max_val);
  static Tensor call_in_place(const Operand& input, double min_val, double max_val);
};

/// For bool, it is computed as a power, whose result is int64.
template <>
struct Overload<op::Square> {
  static constexpr std::array args{Arg{"input"}};
  static Tensor call(const Operand& input);
  static Tensor call_in_place(const Operand& input);
};

/// For complex numbers, it is composed of other ops.
template <>
struct Overload<op::Logaddexp> {
  static constexpr std::array args{Arg{"input"}, Arg{"other"}};
  static Tensor call(const Operand& input, const Operand& other);
  static Tensor call_in_place(const Operand& input, const Operand& other);
};
template <>
struct Overload<op::NanToNum> {
  using Number = std::optional<double>;
  static constexpr std::array args{Arg{"input"}, Arg{"nan", "null"}, Arg{"posinf", "null"},
                                   Arg{"neginf", "null"}};
  static Tensor call(const Operand& input, Number nan, Number posinf, Number neginf);
  static Tensor call_in_place(const Operand& input, Number nan, Number posinf, Number neginf);
};

/// In half precision, the limit is rounded too.
template <>
struct Overload<op::Hardshrink> {
  static constexpr std::array args{Arg{"input"}, Arg{"lambd", "0.5"}};
  static Tensor call(const Operand& input, double lambd);
  static Tensor call_in_place(const Operand& input, double lambd);
};
/// A number is infinite if one of its parts is.
template <>
struct Overload<op::Isinf> {
  static constexpr std::array args{Arg{"input"}};
  static Tensor call(const Operand& input);
};
/// A real base with a complex exponent is converted, because its logarithm is complex.
template <>
struct Overload<op::Pow> {
  static constexpr std::array args{Arg{"input"}, Arg{"exponent"}};
  static Tensor call(const Operand& input, const Operand& exponent);
  static Tensor call_in_place(const Operand& input, const Operand& exponent);
};

template <class Op>
inline constexpr bool kHasOverload = requires { Overload<Op>::args; };

}  // namespace eg
