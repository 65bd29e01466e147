#include "ops/loss/loss.h"

#include "dispatch/transfer.h"
#include "formulas/loss.h"
#include "ops/loss/loss_reduction.h"
#include "ops/reduce/reduction.h"

namespace eg {
namespace {

Tensor weighted(const Tensor& losses, const std::optional<Tensor>& weight) {
  return weight.has_value() ? Tensor(losses * *weight) : losses;
}

}  // namespace

Tensor reduce_losses(const Tensor& losses, Reduction reduction) {
  switch (reduction) {
    case Reduction::kMean:
      return Mean::call(losses);
    case Reduction::kSum:
      return Sum::call(losses);
    case Reduction::kNone:
      break;
  }
  return losses;
}

Tensor MseLoss::call(const Tensor& input, const Tensor& target, Reduction reduction) {
  return reduce_losses(eg::call<op::SquaredError>(input, target), reduction);
}

Tensor L1Loss::call(const Tensor& input, const Tensor& target, Reduction reduction) {
  return reduce_losses(eg::call<op::AbsoluteError>(input, target), reduction);
}

Tensor SmoothL1Loss::call(const Tensor& input, const Tensor& target, Reduction reduction,
                          double beta) {
  check(beta >= 0, ErrorCode::kInvalidArgument, doc.name, "beta must not be negative, got ", beta,
        '.');
  if (beta == 0) return L1Loss::call(input, target, reduction);
  return reduce_losses(call_with<op::SmoothAbsoluteError>({.beta = beta}, input, target),
                       reduction);
}

Tensor HuberLoss::call(const Tensor& input, const Tensor& target, Reduction reduction,
                       double delta) {
  check(delta > 0, ErrorCode::kInvalidArgument, doc.name, "delta must be positive, got ", delta,
        '.');
  return reduce_losses(call_with<op::HuberError>({.delta = delta}, input, target), reduction);
}

Tensor BinaryCrossEntropy::call(const Tensor& input, const Tensor& target,
                                const std::optional<Tensor>& weight, Reduction reduction) {
  check(input.shape() == target.shape(), ErrorCode::kShapeMismatch, doc.name,
        "input and target must have the same shape, got ", input.shape(), " and ", target.shape(),
        '.');
  if (input.numel() > 0 && is_floating(input.dtype())) {
    const ReducedDims all = reduced_dims({}, false, input.ndim(), doc.name);
    const Var smallest =
        run_reduction({.fold = kernel::Fold::kMin, .compute = input.dtype()}, input, all);
    const Var largest =
        run_reduction({.fold = kernel::Fold::kMax, .compute = input.dtype()}, input, all);
    check(is_true((smallest >= 0) & (largest <= 1)), ErrorCode::kInvalidArgument, doc.name,
          "input must contain probabilities in [0, 1].");
  }
  return reduce_losses(weighted(eg::call<op::BinaryCrossEntropyError>(input, target), weight),
                       reduction);
}

Tensor BinaryCrossEntropyWithLogits::call(const Tensor& input, const Tensor& target,
                                          const std::optional<Tensor>& weight, Reduction reduction,
                                          const std::optional<Tensor>& pos_weight) {
  check(input.shape() == target.shape(), ErrorCode::kShapeMismatch, doc.name,
        "input and target must have the same shape, got ", input.shape(), " and ", target.shape(),
        '.');
  const Operand positive = pos_weight.has_value() ? Operand(*pos_weight) : Operand(1);
  const Tensor losses =
      apply_elementwise(elementwise_info<op::BinaryCrossEntropyWithLogitsError>(),
                        std::array{input, target, positive.tensor()}, op::ParamValues{});
  return reduce_losses(weighted(losses, weight), reduction);
}

Tensor KlDiv::call(const Tensor& input, const Tensor& target, KlReduction reduction,
                   bool log_target) {
  for (const Tensor& t : {input, target}) {
    check(!is_integral(t.dtype()), ErrorCode::kDtypeMismatch, doc.name,
          "expected floating-point numbers, got ", t.dtype(), '.');
  }
  Tensor losses =
      log_target ? eg::call<op::KlErrorOfLog>(input, target) : eg::call<op::KlError>(input, target);
  switch (reduction) {
    case KlReduction::kNone:
      return losses;
    case KlReduction::kMean:
      return Mean::call(losses);
    case KlReduction::kSum:
      return Sum::call(losses);
    case KlReduction::kBatchmean:
      break;
  }
  const std::int64_t batch = input.ndim() == 0 ? 1 : input.size(0);
  return Sum::call(losses) / static_cast<double>(batch);
}

}  // namespace eg
