#pragma once

// Queries about the declaration of an elementwise op: its arity, its parameters, which inputs have
// a gradient, and what each gradient reads. The declarations themselves are in the files of this
// folder, by topic; an incomplete one fails the concept `Elementwise`.
//
//   unary     forward(x[, p])          grad(g, x, y[, p])
//   binary    forward(a, b[, p])       grad_a(g, a, b, y[, p])       grad_b(...)
//   ternary   forward(a, b, c[, p])    grad_a(g, a, b, c, y[, p])    grad_b(...)    grad_c(...)
//
// `p` is the op's own struct Params of doubles, described by `params`. An input without a gradient
// formula is not differentiable (such as a mask, or the operands of a comparison). A formula that
// returns a plain 0 declares that the gradient is zero.

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "formulas/vocabulary.h"

namespace eg::op {

/// Parameters of ops that take none.
struct NoParams {};

namespace detail {

template <class Op>
concept HasParams = requires { typename Op::Params; };

template <class Op>
constexpr auto params_type() {
  if constexpr (HasParams<Op>) {
    return std::type_identity<typename Op::Params>{};
  } else {
    return std::type_identity<NoParams>{};
  }
}

// The formulas as types, so that generic code can refer to "the gradient of input I" and check
// whether it exists. Functions that only forward to a formula are always inlined, so that inlining
// depends on the formula alone.
template <class Op>
struct ForwardFormula {
  template <class... Args>
    requires requires(const Args&... args) { Op::forward(args...); }
  [[gnu::always_inline]] constexpr auto operator()(const Args&... args) const {
    return Op::forward(args...);
  }
};

template <class Op, std::size_t I>
struct GradientFormula {
  template <class... Args>
    requires(I == 0) && requires(const Args&... args) { Op::grad(args...); }
  constexpr auto operator()(const Args&... args) const {
    return Op::grad(args...);
  }
  template <class... Args>
    requires(I == 0) && requires(const Args&... args) { Op::grad_a(args...); }
  constexpr auto operator()(const Args&... args) const {
    return Op::grad_a(args...);
  }
  template <class... Args>
    requires(I == 1) && requires(const Args&... args) { Op::grad_b(args...); }
  constexpr auto operator()(const Args&... args) const {
    return Op::grad_b(args...);
  }
  template <class... Args>
    requires(I == 2) && requires(const Args&... args) { Op::grad_c(args...); }
  constexpr auto operator()(const Args&... args) const {
    return Op::grad_c(args...);
  }
};

// Calls a formula, passing the parameters if the op declares some.
template <class Op, class Formula, class Params, class... Operands>
[[gnu::always_inline]] constexpr auto invoke(const Formula& formula, const Params& p,
                                             const Operands&... operands) {
  if constexpr (HasParams<Op>)
    return formula(operands..., p);
  else
    return formula(operands...);
}

template <class Op, class Formula, std::size_t... J>
constexpr bool accepts_probes(std::index_sequence<J...>) {
  if constexpr (HasParams<Op>) {
    return std::is_invocable_v<Formula, decltype(static_cast<void>(J), Probe{})...,
                               typename Op::Params>;
  } else {
    return std::is_invocable_v<Formula, decltype(static_cast<void>(J), Probe{})...>;
  }
}

/// True when the formula takes `N` operands.
template <class Op, class Formula, std::size_t N>
inline constexpr bool kAccepts = accepts_probes<Op, Formula>(std::make_index_sequence<N>{});

}  // namespace detail

template <class Op>
using ParamsOf = typename decltype(detail::params_type<Op>())::type;

template <class Op>
inline constexpr std::size_t kParamCount =
    std::is_empty_v<ParamsOf<Op>> ? 0 : sizeof(ParamsOf<Op>) / sizeof(double);

/// Parameters as the plain numbers of the calling convention.
inline constexpr std::size_t kMaxParams = 4;
using ParamValues = std::array<double, kMaxParams>;

template <class Op>
ParamsOf<Op> params_from(const double* values) {
  if constexpr (kParamCount<Op> == 0) {
    return {};
  } else {
    std::array<double, kParamCount<Op>> used;
    for (std::size_t i = 0; i < used.size(); ++i) used[i] = values[i];
    return std::bit_cast<ParamsOf<Op>>(used);
  }
}

template <class Op>
ParamValues param_values(const ParamsOf<Op>& params) {
  ParamValues values{};
  if constexpr (kParamCount<Op> != 0) {
    const auto used = std::bit_cast<std::array<double, kParamCount<Op>>>(params);
    for (std::size_t i = 0; i < used.size(); ++i) values[i] = used[i];
  }
  return values;
}

/// The number of tensor operands; 0 for a declaration without a valid forward formula.
template <class Op>
inline constexpr std::size_t kArity = [] {
  using Formula = detail::ForwardFormula<Op>;
  std::size_t arity = 0;
  if (detail::kAccepts<Op, Formula, 1>) arity = 1;
  if (detail::kAccepts<Op, Formula, 2>) arity = 2;
  if (detail::kAccepts<Op, Formula, 3>) arity = 3;
  return arity;
}();

/// Evaluates the forward formula.
template <class Op, class... Operands>
[[gnu::always_inline]] constexpr auto forward(const ParamsOf<Op>& p, const Operands&... x) {
  return detail::invoke<Op>(detail::ForwardFormula<Op>{}, p, x...);
}

/// True when input `I` has a gradient formula.
template <class Op, std::size_t I>
inline constexpr bool kHasGradient =
    I < kArity<Op> && detail::kAccepts<Op, detail::GradientFormula<Op, I>, kArity<Op> + 2>;

/// Evaluates the gradient formula of input `I`: the incoming gradient, the inputs, the output.
template <class Op, std::size_t I, class Value, class... Rest>
constexpr auto gradient(const ParamsOf<Op>& p, const Value& g, const Rest&... inputs_and_output) {
  return detail::invoke<Op>(detail::GradientFormula<Op, I>{}, p, g, inputs_and_output...);
}

/// The operands that the gradient formula of input `I` reads: bit i is input i, bit kArity is the
/// output. Probed with the default parameters, because a formula reads the same operands for all
/// parameters.
template <class Op, std::size_t I>
inline constexpr Probe kGradientProbe = []<std::size_t... J>(std::index_sequence<J...>) {
  if constexpr (!kHasGradient<Op, I>) {
    return Probe{};
  } else {
    return Probe(gradient<Op, I>(ParamsOf<Op>{}, Probe::gradient(), Probe::operand(J)...));
  }
}(std::make_index_sequence<kArity<Op> + 1>{});

template <class Op>
inline constexpr bool kIsDifferentiable =
    kHasGradient<Op, 0> || kHasGradient<Op, 1> || kHasGradient<Op, 2>;

template <class Op>
inline constexpr DTypeRule kDTypeRule = [] {
  if constexpr (requires { Op::dtype_rule; })
    return Op::dtype_rule;
  else
    return DTypeRule::kFloat;
}();

template <class Op>
inline constexpr ComplexRule kComplexRule = [] {
  if constexpr (requires { Op::complex_rule; })
    return Op::complex_rule;
  else
    return ComplexRule::kNone;
}();

template <class Op>
inline constexpr IntegerRule kIntegerRule = [] {
  if constexpr (requires { Op::integer_rule; })
    return Op::integer_rule;
  else
    return IntegerRule::kNone;
}();

/// False for an op that is not defined for bool.
template <class Op>
inline constexpr bool kTakesBool = [] {
  if constexpr (requires { Op::takes_bool; })
    return Op::takes_bool;
  else
    return true;
}();

/// True for ops that training spends much time in: their float32 kernels are inlined, at the cost
/// of some kilobytes.
template <class Op>
inline constexpr bool kIsHot = [] {
  if constexpr (requires { Op::is_hot; })
    return Op::is_hot;
  else
    return false;
}();

/// The error message for a bool operand; empty if bool operands are allowed.
template <class Op>
inline constexpr std::string_view kRefusesBool = [] {
  if constexpr (requires { Op::refuses_bool; })
    return std::string_view(Op::refuses_bool);
  else
    return std::string_view();
}();

/// True for an op of half precision whose last operand, if it has no dimensions, is not rounded to
/// the dtype of the others first.
template <class Op>
inline constexpr bool kTakesExactNumber = [] {
  if constexpr (requires { Op::takes_exact_number; })
    return Op::takes_exact_number;
  else
    return false;
}();

/// The operands' names in signatures: `input`; `input` and `other`; or those declared by the op.
template <class Op>
inline constexpr auto kOperandNames = [] {
  if constexpr (requires { Op::operands; }) {
    return Op::operands;
  } else if constexpr (kArity<Op> == 1) {
    return std::array<std::string_view, 1>{"input"};
  } else {
    return std::array<std::string_view, 2>{"input", "other"};
  }
}();

template <class Op>
inline constexpr auto kParams = [] {
  if constexpr (requires { Op::params; })
    return Op::params;
  else
    return std::array<Param, 0>{};
}();

/// The range in which tests sample input `I`.
template <class Op>
constexpr Domain domain_of(std::size_t input) {
  if constexpr (requires { Op::domains; })
    return Op::domains[input];
  else if constexpr (requires { Op::domain; })
    return Op::domain;
  else
    return {};
}

/// A complete declaration: a name, a doc sentence, a formula and a description of every parameter.
template <class Op>
concept Elementwise =
    requires {
      { Op::doc } -> std::convertible_to<Doc>;
    } && (kArity<Op> >= 1) && (kArity<Op> <= 3) && (kParams<Op>.size() == kParamCount<Op>) &&
    (kParamCount<Op> <= kMaxParams) && (kOperandNames<Op>.size() == kArity<Op>);

}  // namespace eg::op
