#pragma once

// Forms: an op whose formula differs between parameters has a shader for each form.
//
// Each choice that an op offers (`approximate` of gelu) is a form. An op whose formula depends on
// the value of a number declares its forms: `form` returns the form for given parameters, and
// `form_examples` lists values of its parameter in each form, which differ where the form allows
// it. All other formulas must be the same for all values of their numbers; tools/formula_shaders.h
// checks this.

#include <algorithm>
#include <array>
#include <cstddef>

#include "formulas/elementwise.h"

namespace eg::op {

template <class Op>
concept DeclaresForms = requires { Op::form_examples; };

/// The number of values that a parameter chooses from; 1 for a number.
constexpr std::size_t choices_of(const Param& param) {
  if (param.kind == Param::Kind::kNumber) return 1;
  if (param.kind == Param::Kind::kBool) return 2;
  return 1 + static_cast<std::size_t>(std::ranges::count(param.choices, '|'));
}

template <class Op>
inline constexpr std::size_t kFormCount = [] {
  if constexpr (DeclaresForms<Op>) {
    return Op::form_examples.size();
  } else {
    std::size_t count = 1;
    for (const Param& param : kParams<Op>) count *= choices_of(param);
    return count;
  }
}();

/// Returns the form that the formulas of an op have for these parameters.
template <class Op>
std::size_t form_of(const ParamsOf<Op>& p) {
  if constexpr (DeclaresForms<Op>) {
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
