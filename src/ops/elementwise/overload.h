#pragma once

// Elementwise ops that take more than one formula can say: limits that are numbers or tensors, a
// choice of rounding. JavaScript calls the overload; other ops go on to call the formula of the
// same name.

#include "dispatch/function_op.h"
#include "formulas/all.h"

namespace eg {

/// How div() rounds.
enum class RoundingMode : std::uint8_t { kNone, kFloor, kTrunc };
constexpr std::array<std::string_view, 3> enum_names(RoundingMode) {
  return {"null", "floor", "trunc"};
}

/// The function in the place of an elementwise op; there is none for most.
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

template <class Op>
inline constexpr bool kHasOverload = requires { Overload<Op>::args; };

}  // namespace eg
