#include "ops/loss/likelihood_loss.h"

#include <cmath>
#include <numbers>

#include "dispatch/precision.h"
#include "dispatch/transfer.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/loss/loss_reduction.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

// The variances, which broadcast to `input`: one for all elements, for each element or for each
// row.
Tensor variances(const Tensor& input, const Tensor& var) {
  if (var.is_wrapped_number()) {
    const DType dtype = is_integral(input.dtype()) ? default_dtype() : input.dtype();
    return Expand::call(moved(ToDType::call(var, dtype), input.device()), input.shape());
  }
  if (var.shape() == input.shape()) return var;
  Shape rows = input.shape();
  if (!rows.empty()) rows.pop_back();
  if (var.shape() == rows) return Unsqueeze::call(var, -1);
  rows.push_back(1);
  check(var.shape() == rows, ErrorCode::kShapeMismatch, GaussianNllLoss::doc.name,
        "var must have shape ", input.shape(), " or ", rows, ", got ", var.shape(), '.');
  return var;
}

}  // namespace

Tensor PoissonNllLoss::call(const Tensor& input, const Tensor& target, bool log_input, bool full,
                            double eps, Reduction reduction) {
  const Var x = input;
  const Var y = target;
  Var losses = log_input ? exp(x) - y * x : x - y * log(x + eps);
  if (full) {
    // Stirling's approximation of log(y!), which is exactly 0 for 0 and 1.
    const Var stirling = y * log(y) - y + 0.5 * log(2 * std::numbers::pi * y);
    losses = losses + where(y <= 1, 0, stirling);
  }
  return reduce_losses(losses, reduction);
}

Tensor GaussianNllLoss::call(const Tensor& input, const Tensor& target, const Operand& var,
                             bool full, double eps, Reduction reduction) {
  const Tensor given = variances(input, var.tensor());
  const Tensor measured = detach(given);
  check(!is_true(Any::call(measured < 0)), ErrorCode::kInvalidArgument, doc.name,
        "var must not be negative.");
  // A variance below eps counts as eps, but its gradient is computed as if it were not clamped.
  const Var v = given + (call_with<op::Clamp>({.min = eps}, measured) - measured);
  const Var difference = input - target;
  Var losses = 0.5 * (log(v) + difference * difference / v);
  if (full) losses = losses + 0.5 * std::log(2 * std::numbers::pi);
  return reduce_losses(losses, reduction);
}

}  // namespace eg
