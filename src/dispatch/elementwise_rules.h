#pragma once

// What elementwise ops require of operands and parameters, and the dtypes in which they compute:
// the rules that formulas declare (formulas/vocabulary.h), applied to tensors.

#include <span>

#include "dispatch/elementwise.h"

namespace eg {

/// Whether the formula takes operands in other dtypes than these.
bool needs_conversion(const ElementwiseInfo& info, std::span<const Tensor> inputs);

/// Returns the operands in the dtypes in which the formula takes them, after check_operands().
SmallVector<Tensor, kMaxArity> converted_operands(const ElementwiseInfo& info,
                                                  std::span<const Tensor> inputs);

/// Checks what an op refuses whatever the other operands are, before any is converted.
void check_operands(const ElementwiseInfo& info, std::span<const Tensor> inputs);

/// The dtypes of an op for some operands.
struct ResultTypes {
  DType compute;
  DType result;
};

/// Returns the dtypes of an op; throws where operands have none in common.
ResultTypes result_types(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                         const op::ParamValues& params);

/// Returns the parameters with which an op computes, after all numbers that it got are checked.
op::ParamValues checked_params(const ElementwiseInfo& info, DType compute,
                               std::span<const Tensor> inputs, const op::ParamValues& params);

/// Checks the second operand of an op that computes integers; `shape` is that of the result.
void check_second_integer(const ElementwiseInfo& info, DType compute, const Shape& shape,
                          std::span<const Tensor> inputs);

}  // namespace eg
