#pragma once

// The list of all elementwise ops, from which everything else about them is derived.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>

#include "base/name.h"
#include "formulas/activation.h"
#include "formulas/arithmetic.h"
#include "formulas/comparison.h"
#include "formulas/exponential.h"
#include "formulas/integer.h"
#include "formulas/rounding.h"
#include "formulas/selection.h"
#include "formulas/special.h"
#include "formulas/trigonometric.h"

namespace eg::op {

using ElementwiseOps =
    Concat<ArithmeticOps, ComparisonOps, SelectionOps, RoundingOps, ExponentialOps,
           TrigonometricOps, SpecialOps, IntegerOps, ActivationOps>;

namespace detail {

template <class... Ops>
constexpr std::size_t position_of(std::string_view name, TypeList<Ops...>) {
  constexpr std::array kNames{Ops::doc.name...};
  return static_cast<std::size_t>(std::find(kNames.begin(), kNames.end(), name) - kNames.begin());
}

constexpr bool is_op(std::string_view name) {
  return position_of(name, ElementwiseOps{}) < ElementwiseOps::size;
}

}  // namespace detail

/// The op with a given name: OpNamed<"floor_divide"> is FloorDivide. The name of a word gives the
/// op that implements it.
template <Name kName>
using OpNamed = std::tuple_element_t<detail::position_of(kName.view(), ElementwiseOps{}),
                                     ElementwiseOps::apply<std::tuple>>;

#define EG_WORD(word) static_assert(detail::is_op(#word), "every word is an op");
EG_UNARY_WORDS(EG_WORD)
EG_BINARY_WORDS(EG_WORD)
#undef EG_WORD

}  // namespace eg::op
