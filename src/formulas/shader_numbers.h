#pragma once

// What a shader of a formula is told besides its operands.

#include "formulas/constants.h"
#include "formulas/forms.h"

namespace eg::op {

struct ShaderNumbers {
  std::size_t form = 0;
  ConstantList constants;
};

/// Of an op's value, or of the gradients of all its inputs.
using ShaderNumbersOf = ShaderNumbers (*)(const ParamValues& params, bool of_gradients);

template <class Op>
ShaderNumbers shader_numbers(const ParamValues& params, bool of_gradients) {
  const ParamsOf<Op> p = params_from<Op>(params.data());
  return {form_of<Op>(p), of_gradients ? gradient_constants<Op>(p) : forward_constants<Op>(p)};
}

}  // namespace eg::op
