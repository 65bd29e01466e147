#pragma once

// Forms: an op whose formula is another one for other parameters has a shader for each.
//
// The choices that an op offers (`approximate` of gelu) are forms by themselves. An op whose
// formula depends on the value of a number says so: `form` gives the form of parameters,
// `form_examples` values of its parameter in each form, which differ wherever the form lets them.
// All other formulas are the same for all values of their numbers, and tools/formula_shaders.h
// holds them to it.

#include <algorithm>
#include <array>
#include <cstddef>

#include "formulas/elementwise.h"

namespace eg::op {

template <class Op>
concept SaysForms = requires { Op::form_examples; };

/// The number of values that a parameter chooses from; 1 for a number.
constexpr std::size_t choices_of(const Param& param) {
  if (param.kind == Param::Kind::kNumber) return 1;
  if (param.kind == Param::Kind::kBool) return 2;
  return 1 + static_cast<std::size_t>(std::ranges::count(param.choices, '|'));
}

template <class Op>
inline constexpr std::size_t kFormCount = [] {
  if constexpr (SaysForms<Op>) {
    return Op::form_examples.size();
  } else {
    std::size_t count = 1;
    for (const Param& param : kParams<Op>) count *= choices_of(param);
    return count;
  }
}();

/// The form that the formulas of an op take for these parameters.
template <class Op>
std::size_t form_of(const ParamsOf<Op>& p) {
  if constexpr (SaysForms<Op>) {
    return Op::form(p);
  } else {
    constexpr auto kChoices = [] {
      std::array<std::size_t, kParams<Op>.size()> choices{};
      std::ranges::transform(kParams<Op>, choices.begin(), choices_of);
      return choices;
    }();
    const ParamValues values = param_values<Op>(p);
    std::size_t form = 0;
    for (std::size_t i = 0; i < kChoices.size(); ++i)
      if (kChoices[i] > 1) form = form * kChoices[i] + static_cast<std::size_t>(values[i]);
    return form;
  }
}

}  // namespace eg::op
