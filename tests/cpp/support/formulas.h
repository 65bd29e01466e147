#pragma once

// The formulas of all elementwise ops as plain functions of numbers, so that tests can loop over
// ops.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "formulas/elementwise.h"

namespace eg::testing {

using Numbers = std::vector<double>;

struct Formula {
  std::string name;
  std::string text;
  std::size_t arity;
  op::DTypeRule dtype_rule;
  std::vector<op::Domain> domains;
  Numbers default_params;
  std::array<bool, 3> has_gradient;
  std::array<op::Probe, 3> gradient_probe;

  /// The value in float64 and in float32.
  using Forward = double (*)(const Numbers& x, const Numbers& params);
  Forward forward;
  Forward forward32;

  /// The gradient of one input for the incoming gradient g.
  using Gradient = double (*)(double g, const Numbers& x, const Numbers& params);
  std::array<Gradient, 3> gradient;
  std::array<Gradient, 3> gradient32;

  /// The derivatives of that gradient with respect to g and every input, through the ops of the
  /// formula's words.
  using Second = Numbers (*)(double g, const Numbers& x, const Numbers& params);
  std::array<Second, 3> second;
};

/// All ops, in the order of op::ElementwiseOps.
const std::vector<Formula>& formulas();

/// The op with this name.
const Formula& formula(std::string_view name);

/// The default parameters and, if the op has any, another choice.
std::vector<Numbers> param_choices(const Formula& formula);

}  // namespace eg::testing
