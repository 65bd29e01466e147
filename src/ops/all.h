#pragma once

// The list of all elementwise ops, from which everything else about them is derived.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>

#include "base/name.h"
#include "ops/activation.h"
#include "ops/arithmetic.h"
#include "ops/comparison.h"
#include "ops/exponential.h"
#include "ops/rounding.h"
#include "ops/selection.h"
#include "ops/special.h"
#include "ops/trigonometric.h"

namespace eg::op {

using ElementwiseOps = Concat<ArithmeticOps, ComparisonOps, SelectionOps, RoundingOps,
                              ExponentialOps, TrigonometricOps, SpecialOps, ActivationOps>;

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

/// The op of a name: OpNamed<"floor_divide"> is FloorDivide. For a word, the op that it stands for.
template <Name kName>
using OpNamed = std::tuple_element_t<detail::position_of(kName.view(), ElementwiseOps{}),
                                     ElementwiseOps::apply<std::tuple>>;

#define EG_WORD(word) static_assert(detail::is_op(#word), "every word is an op");
EG_UNARY_WORDS(EG_WORD)
EG_BINARY_WORDS(EG_WORD)
#undef EG_WORD

}  // namespace eg::op
