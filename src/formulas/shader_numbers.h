#pragma once

// The parameters of a formula's shader besides its operands.

#include "formulas/constants.h"
#include "formulas/forms.h"

namespace eg::op {

struct ShaderNumbers {
  std::size_t form = 0;
  ConstantList constants;
};

/// Computes them for an op's forward formula, or for the gradients of all its inputs.
using ShaderNumbersOf = ShaderNumbers (*)(const ParamValues& params, bool of_gradients);

template <class Op>
ShaderNumbers shader_numbers(const ParamValues& params, bool of_gradients) {
  const ParamsOf<Op> p = params_from<Op>(params.data());
  return {form_of<Op>(p), of_gradients ? gradient_constants<Op>(p) : forward_constants<Op>(p)};
}

}  // namespace eg::op
