#include "ops/loss/class_loss.h"

#include "dispatch/factories.h"
#include "dispatch/optional_memory.h"
#include "formulas/all.h"
#include "kernels/class_loss.h"
#include "ops/create/copy.h"
#include "ops/index/index.h"
#include "ops/nn/softmax.h"
#include "ops/nn/softmax_rows.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/stride.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

std::int64_t class_dim(const Tensor& input) { return input.ndim() == 1 ? 0 : 1; }

void check_weight(const Tensor& input, const Tensor& weight, std::string_view op) {
  if (!weight.defined()) return;
  const std::int64_t classes = input.size(class_dim(input));
  check(weight.ndim() == 1 && weight.numel() == classes, ErrorCode::kShapeMismatch, op,
        "weight must be a vector with one element for each of the ", classes,
        " classes, got shape ", weight.shape(), '.');
  check(weight.dtype() == input.dtype(), ErrorCode::kDtypeMismatch, op, "weight must be ",
        input.dtype(), " like input, got ", weight.dtype(), '.');
}

void check_target_shape(const Tensor& input, const Tensor& target, std::string_view op) {
  check(input.ndim() > 0, ErrorCode::kShapeMismatch, op,
        "input must have at least 1 dimension, got shape ", input.shape(), '.');
  const Shape expected = ReducedDims{{class_dim(input)}}.result_shape(input.shape());
  if (input.ndim() > 1 && target.ndim() > 0) {
    check(input.size(0) == target.size(0), ErrorCode::kShapeMismatch, op,
          "input and target must have the same batch size, got ", input.size(0), " and ",
          target.size(0), '.');
  }
  check(target.shape() == expected, ErrorCode::kShapeMismatch, op, "target must have shape ",
        expected, ", got ", target.shape(), '.');
}

// Tensors of a class loss in the form its kernels take: packed, and indices as int64.
struct Classes {
  Tensor input;
  Tensor target;
  Tensor weight;  // may be undefined

  Classes(const Tensor& any_input, const Tensor& any_target, const Tensor& any_weight)
      : input(packed(any_input)),
        target(packed(ToDType::call(any_target, DType::kInt64))),
        weight(any_weight.defined() ? packed(any_weight) : Tensor()) {}

  kernel::ClassTargets targets(std::int64_t ignore_index, double smoothing) const {
    return {rows_along(input, class_dim(input)), target.memory(), optional_memory(weight),
            ignore_index, smoothing};
  }
};

Classes checked_classes(const Tensor& input, const Tensor& target, const Tensor& weight,
                        std::int64_t ignore_index, std::string_view op) {
  check_target_shape(input, target, op);
  check_weight(input, weight, op);
  check(is_floating(input.dtype()), ErrorCode::kDtypeMismatch, op, "not implemented for ",
        input.dtype(), '.');
  check(is_integral(target.dtype()) && target.dtype() != DType::kBool, ErrorCode::kDtypeMismatch,
        op, "target must be int64, got ", target.dtype(), '.');
  Classes classes(input, target, weight);
  const Tensor checked = input.device().is_cpu()
                             ? Tensor()
                             : Tensor::empty(target.shape(), DType::kInt64, target.device());
  run(kernel::FindBadTarget{op, classes.targets(ignore_index, 0), optional_memory(checked)});
  if (checked.defined()) classes.target = checked;
  return classes;
}

struct Combined {
  Tensor loss;
  ClassLossAttrs attrs;
  Tensor total_weight;  // of a mean
};

// Reduces the losses of all positions.
Combined combine(const Tensor& losses, const kernel::ClassTargets& targets, Reduction reduction) {
  const ClassLossAttrs attrs{targets.ignore_index, targets.smoothing,
                             reduction != Reduction::kNone};
  if (reduction == Reduction::kNone) return {losses, attrs, {}};
  if (reduction == Reduction::kSum) return {Sum::call(losses), attrs, {}};
  const auto make = [&] { return Tensor::empty({}, losses.dtype(), losses.device()); };
  const Combined result{make(), attrs, make()};
  run(kernel::MeanLoss{targets, losses.memory(), result.loss.memory(),
                       result.total_weight.memory()});
  return result;
}

// The gradient of the sum of losses: for a mean, divided by the total weight.
Var share_of(const Tensor& grad, const Tensor& total_weight) {
  if (!total_weight.defined()) return grad;
  // If every position is ignored, the total weight is zero and so is the gradient.
  return where(total_weight == 0, 0, grad / total_weight);
}

// The same, expanded to the shape of the input.
Var spread_gradient(const Tensor& grad, const ClassLossAttrs& attrs, const Tensor& total_weight,
                    const Tensor& input) {
  const ReducedDims reduced = attrs.is_reduced
                                  ? reduced_dims({}, false, input.ndim(), "cross_entropy")
                                  : ReducedDims{{class_dim(input)}};
  return unreduce(share_of(grad, total_weight), reduced, input.shape());
}

Var target_distribution(const kernel::ClassTargets& targets, const Tensor& input) {
  const Tensor distribution = Tensor::empty(input.shape(), input.dtype(), input.device());
  run(kernel::TargetDistribution{targets, distribution.memory()});
  return distribution;
}

[[gnu::noinline]] Tensor cross_entropy_of_probabilities(const Tensor& input, const Tensor& target,
                                                        const Tensor& weight,
                                                        std::int64_t ignore_index,
                                                        Reduction reduction,
                                                        double label_smoothing) {
  constexpr std::string_view kName = CrossEntropy::doc.name;
  check(is_floating(target.dtype()), ErrorCode::kDtypeMismatch, kName,
        "target must hold probabilities as floating-point numbers, got ", target.dtype(), '.');
  check(ignore_index < 0, ErrorCode::kInvalidArgument, kName,
        "ignoreIndex is only supported for a target of class indices.");
  check_weight(input, weight, kName);
  const std::int64_t dim = class_dim(input);
  const auto classes = static_cast<double>(input.size(dim));
  Var goal = target;
  if (label_smoothing > 0) goal = goal * (1 - label_smoothing) + label_smoothing / classes;
  Var losses = LogSoftmax::call(input, dim) * goal;
  if (weight.defined()) {
    Shape shape(input.shape().size(), 1);
    Strides strides(input.shape().size());
    shape[static_cast<std::size_t>(dim)] = weight.numel();
    strides[static_cast<std::size_t>(dim)] = weight.strides()[0];
    losses = losses * AsStrided::call(weight, shape, strides, std::nullopt);
  }
  if (reduction == Reduction::kNone) return -Sum::call(losses, Dims{dim});
  const double divisor =
      reduction == Reduction::kMean ? static_cast<double>(input.numel()) / classes : 1;
  return Sum::call(losses) / -divisor;
}

// The gradient of cross entropy by ops that are recorded, for second derivatives.
[[gnu::noinline]] Tensor recorded_gradient(const Backward<CrossEntropy>& b, const Tensor& input,
                                           const kernel::ClassTargets& targets) {
  const std::int64_t dim = class_dim(input);
  const Var goal = target_distribution(targets, input);
  const Var mass = Sum::call(goal, Dims{dim}, true);
  const Var softmax = Softmax::call(input, dim);
  const Var share = spread_gradient(b.grad(), b.attrs(), b.saved(5), input);
  return where(mass == 0, 0, share * (softmax * mass - goal));
}

}  // namespace

Tensor CrossEntropy::call(const Tensor& input, const Tensor& target,
                          const std::optional<Tensor>& weight, std::int64_t ignore_index,
                          Reduction reduction, double label_smoothing) {
  check(label_smoothing >= 0 && label_smoothing <= 1, ErrorCode::kInvalidArgument, doc.name,
        "labelSmoothing must be in [0, 1], got ", label_smoothing, '.');
  const Tensor class_weight = weight.value_or(Tensor());
  if (input.shape() == target.shape() && input.ndim() > 0) {
    return cross_entropy_of_probabilities(input, target, class_weight, ignore_index, reduction,
                                          label_smoothing);
  }
  const Classes classes = checked_classes(input, target, class_weight, ignore_index, doc.name);
  const kernel::ClassTargets targets = classes.targets(ignore_index, label_smoothing);
  const Tensor losses = Tensor::empty(target.shape(), input.dtype(), input.device());
  const Tensor largest = Tensor::empty({losses.numel()}, input.dtype(), input.device());
  const Tensor log_sum = Tensor::empty({losses.numel()}, input.dtype(), input.device());
  run(kernel::CrossEntropy{targets, classes.input.memory(), losses.memory(), largest.memory(),
                           log_sum.memory()});
  const Combined result = combine(losses, targets, reduction);
  return record<CrossEntropy>(
      result.loss, {input}, result.attrs,
      {{input}, {classes.target}, {classes.weight}, {largest}, {log_sum}, {result.total_weight}});
}

GradList CrossEntropy::backward(const Backward<CrossEntropy>& b) {
  const ClassLossAttrs& attrs = b.attrs();
  const Tensor input = b.saved(0);
  const Classes classes(input, b.saved(1), b.saved(2));
  const kernel::ClassTargets targets = classes.targets(attrs.ignore_index, attrs.smoothing);
  if (ops_are_differentiated()) return {recorded_gradient(b, input, targets)};
  const Tensor grad = packed(b.grad());
  const Tensor result = Tensor::empty(input.shape(), input.dtype(), input.device());
  run(kernel::CrossEntropyBackward{targets, classes.input.memory(), b.saved(3).memory(),
                                   b.saved(4).memory(), grad.memory(), attrs.is_reduced ? 0 : 1,
                                   optional_memory(b.saved(5)), result.memory()});
  return {result};
}

Tensor NllLoss::call(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight,
                     std::int64_t ignore_index, Reduction reduction) {
  const Classes classes =
      checked_classes(input, target, weight.value_or(Tensor()), ignore_index, doc.name);
  const kernel::ClassTargets targets = classes.targets(ignore_index, 0);
  const Tensor losses = Tensor::empty(target.shape(), input.dtype(), input.device());
  run(kernel::NllLosses{targets, classes.input.memory(), losses.memory()});
  const Combined result = combine(losses, targets, reduction);
  return record<NllLoss>(result.loss, {input}, result.attrs,
                         {{input}, {classes.target}, {classes.weight}, {result.total_weight}});
}

// The loss is linear in the input: the gradient is minus the weight at the target class, and zero
// elsewhere.
GradList NllLoss::backward(const Backward<NllLoss>& b) {
  const Tensor input = b.saved(0);
  const std::int64_t dim = class_dim(input);
  const Tensor one = full({}, 1, input.dtype(), input.device());
  const Tensor index = Unsqueeze::call(b.saved(1), dim);
  const Tensor is_counted = eg::call<op::Ne>(index, Scalar(b.attrs().ignore_index));
  const Tensor target = eg::call<op::Where>(is_counted, index, Scalar(0));
  Var mass = where(is_counted, one, 0);
  if (b.saved(2).defined()) {
    const Tensor weights = IndexSelect::call(detach(b.saved(2)), 0, Flatten::call(target));
    mass = mass * View::call(weights, target.shape());
  }
  Var share = share_of(b.grad(), b.saved(3));
  if (!b.attrs().is_reduced) share = Unsqueeze::call(share, dim);
  const Tensor none = full(input.shape(), 0, input.dtype(), input.device());
  return {Scatter::call(none, dim, target, where(mass == 0, 0, -share * mass).tensor())};
}

}  // namespace eg
