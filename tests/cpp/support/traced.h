#pragma once

// The smallest interpreter of formulas that can be differentiated: a number that records how it was
// computed. Backward uses the gradient formulas of the ops, as it does for tensors, so it detects a
// word without an op, or 0 times infinity in a second derivative.

#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "backend/cpu/vector/pack.h"
#include "formulas/all.h"

namespace eg::testing {

/// Evaluates a formula's result on numbers: the first lane of a pack, or 1 and 0 for true and
/// false.
template <class T, class Result>
double first_lane(const Result& result) {
  if constexpr (requires { result.bits; })
    return result.bits[0] != 0 ? 1 : 0;
  else
    return static_cast<double>(cpu::Pack<T>(result).v[0]);
}

/// All lanes have the same number; summing them would lose the sign of -0.
template <class T>
cpu::Pack<T> filled(double value) {
  cpu::Vec<T> lanes;
  for (int i = 0; i < cpu::kLanes<T>; ++i) lanes[i] = static_cast<T>(value);
  return {lanes};
}

/// The formula of Op on numbers, computed in T.
template <class T, class Op, std::size_t... J>
double forward_of(const op::ParamsOf<Op>& p, const double* x, std::index_sequence<J...>) {
  return first_lane<T>(op::forward<Op>(p, filled<T>(x[J])...));
}

/// The gradient of input I on numbers, computed in T; zero if there is none.
template <class T, class Op, std::size_t I, std::size_t... J>
double gradient_of(const op::ParamsOf<Op>& p, double g, const double* x,
                   std::index_sequence<J...>) {
  if constexpr (op::kHasGradient<Op, I>) {
    const auto y = op::forward<Op>(p, filled<T>(x[J])...);
    return first_lane<T>(op::gradient<Op, I>(p, filled<T>(g), filled<T>(x[J])..., y));
  } else {
    return 0;
  }
}

/// A recorded number.
class Traced {
 public:
  Traced(double value) : value_(value) {}

  /// Records an input to differentiate with respect to.
  static Traced variable(double value) { return record(value, {}, {}); }
  static void clear() { tape().clear(); }
  double value() const { return value_; }

  /// The derivatives of this number with respect to every recorded one, in the order of recording.
  std::vector<double> derivatives() const {
    std::vector<double> grads(tape().size(), 0.0);
    if (place_ < 0) return grads;
    grads[static_cast<std::size_t>(place_)] = 1;
    for (std::size_t n = tape().size(); n-- > 0;) {
      const Step& step = tape()[n];
      for (std::size_t i = 0; i < step.inputs.size(); ++i) {
        const int input = step.inputs[i];
        if (input >= 0) grads[static_cast<std::size_t>(input)] += step.pull[i](grads[n]);
      }
    }
    return grads;
  }

  /// Applies the op to recorded numbers.
  template <class Op, class... Inputs>
  static Traced apply(const Inputs&... inputs) {
    using Each = std::make_index_sequence<sizeof...(Inputs)>;
    const std::array<double, sizeof...(Inputs)> x{inputs.value_...};
    std::vector<Pull> pull;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (pull.push_back(
           [x](double g) { return gradient_of<double, Op, I>({}, g, x.data(), Each{}); }),
       ...);
    }(Each{});
    return record(forward_of<double, Op>({}, x.data(), Each{}), {inputs.place_...},
                  std::move(pull));
  }

#define EG_OPERATOR(symbol, name)                                   \
  friend Traced operator symbol(const Traced& a, const Traced& b) { \
    return apply<op::OpNamed<name>>(a, b);                          \
  }
  EG_OPERATOR(+, "add")
  EG_OPERATOR(-, "sub")
  EG_OPERATOR(*, "mul")
  EG_OPERATOR(/, "div")
  EG_OPERATOR(==, "eq")
  EG_OPERATOR(!=, "ne")
  EG_OPERATOR(<, "lt")
  EG_OPERATOR(<=, "le")
  EG_OPERATOR(>, "gt")
  EG_OPERATOR(>=, "ge")
  EG_OPERATOR(&, "logical_and")
  EG_OPERATOR(|, "logical_or")
#undef EG_OPERATOR
  friend Traced operator-(const Traced& x) { return apply<op::OpNamed<"neg">>(x); }
  friend Traced operator!(const Traced& x) { return apply<op::OpNamed<"logical_not">>(x); }
  friend Traced where(const Traced& mask, const Traced& a, const Traced& b) {
    return apply<op::OpNamed<"where">>(mask, a, b);
  }
  friend Traced conj(const Traced& x) { return x; }
  friend Traced real(const Traced& x) { return x; }
#define EG_WORD(word) \
  friend Traced word(const Traced& x) { return apply<op::OpNamed<#word>>(x); }
  EG_UNARY_WORDS(EG_WORD)
#undef EG_WORD
#define EG_WORD(word) \
  friend Traced word(const Traced& a, const Traced& b) { return apply<op::OpNamed<#word>>(a, b); }
  EG_BINARY_WORDS(EG_WORD)
#undef EG_WORD

 private:
  using Pull = std::function<double(double)>;
  struct Step {
    std::vector<int> inputs;
    std::vector<Pull> pull;
  };
  static std::vector<Step>& tape() {
    static std::vector<Step> steps;
    return steps;
  }
  static Traced record(double value, std::vector<int> inputs, std::vector<Pull> pull) {
    Traced result(value);
    result.place_ = static_cast<int>(tape().size());
    tape().push_back({std::move(inputs), std::move(pull)});
    return result;
  }

  double value_;
  int place_ = -1;
};

}  // namespace eg::testing
