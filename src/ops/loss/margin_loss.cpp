#include "ops/loss/margin_loss.h"

#include "dispatch/transfer.h"
#include "formulas/all.h"
#include "ops/create/factory.h"
#include "ops/index/index.h"
#include "ops/loss/loss_reduction.h"
#include "ops/nn/distance.h"
#include "ops/reduce/reduction.h"
#include "ops/reduce/scan.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

// max(x, 0) with the derivative 1 at zero, like the clamp that PyTorch uses here.
Var at_least_zero(const Var& x) { return call_with<op::Clamp>({.min = 0}, x); }

Var relu(const Var& x) { return call<op::Relu>(x); }

Var sum_of_vectors(const Var& x) { return Sum::call(x, Dims{-1}); }

// Throws unless `input` is one row or a matrix of scores and `target` has the expected shape.
void check_scores(std::string_view op, const Tensor& input, const Tensor& target,
                  const Shape& expected) {
  check((input.ndim() == 1 || input.ndim() == 2) && input.size(-1) > 0, ErrorCode::kShapeMismatch,
        op, "input must be a vector or matrix of at least one class, got shape ", input.shape(),
        '.');
  check(target.shape() == expected, ErrorCode::kShapeMismatch, op, "target must have shape ",
        expected, " for input of shape ", input.shape(), ", got ", target.shape(), '.');
  check(is_integral(target.dtype()), ErrorCode::kDtypeMismatch, op, "target must be int64, got ",
        target.dtype(), '.');
}

}  // namespace

Tensor MarginRankingLoss::call(const Tensor& input1, const Tensor& input2, const Tensor& target,
                               double margin, Reduction reduction) {
  check(input1.ndim() == input2.ndim() && input1.ndim() == target.ndim(), ErrorCode::kShapeMismatch,
        doc.name, "input1, input2 and target must have the same number of dimensions, got shapes ",
        input1.shape(), ", ", input2.shape(), " and ", target.shape(), '.');
  const Var losses = at_least_zero(-target * (input1 - input2) + margin);
  return reduce_losses(losses, reduction);
}

// A target other than 1 and -1 gets both terms.
Tensor HingeEmbeddingLoss::call(const Tensor& input, const Tensor& target, double margin,
                                Reduction reduction) {
  const Var y = target;
  const Var near = where(y != -1, input, 0);
  const Var far = where(y != 1, at_least_zero(margin - input), 0);
  return reduce_losses(near + far, reduction);
}

Tensor SoftMarginLoss::call(const Tensor& input, const Tensor& target, Reduction reduction) {
  return reduce_losses(log1p(exp(-(target * input))), reduction);
}

Tensor CosineEmbeddingLoss::call(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                 double margin, Reduction reduction) {
  check(target.ndim() <= 1, ErrorCode::kShapeMismatch, doc.name,
        "target must have at most 1 dimension, got shape ", target.shape(), '.');
  const std::int64_t ndim = target.ndim() + 1;
  check(input1.ndim() == ndim && input2.ndim() == ndim, ErrorCode::kShapeMismatch, doc.name,
        "the inputs must have one dimension more than target, ", ndim, ", got shapes ",
        input1.shape(), " and ", input2.shape(), '.');
  constexpr double kEpsilon = 1e-12;
  const Var a = input1;
  const Var b = input2;
  const Var squares = (sum_of_vectors(a * a) + kEpsilon) * (sum_of_vectors(b * b) + kEpsilon);
  const Var cosine = sum_of_vectors(a * b) / sqrt(squares);
  const Var y = target;
  const Var alike = where(y == 1, 1 - cosine, 0);
  const Var unlike = where(y == -1, at_least_zero(cosine - margin), 0);
  return reduce_losses(alike + unlike, reduction);
}

Tensor TripletMarginLoss::call(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                               double margin, double p, double eps, bool swap,
                               Reduction reduction) {
  check(anchor.ndim() == positive.ndim() && anchor.ndim() == negative.ndim(),
        ErrorCode::kShapeMismatch, doc.name,
        "anchor, positive and negative must have the same number of dimensions, got ",
        anchor.ndim(), ", ", positive.ndim(), " and ", negative.ndim(), '.');
  check(margin > 0, ErrorCode::kInvalidArgument, doc.name, "margin must be positive, got ", margin,
        '.');
  const Var near = PairwiseDistance::call(anchor, positive, p, eps);
  Var far = PairwiseDistance::call(anchor, negative, p, eps);
  if (swap) far = minimum(far, PairwiseDistance::call(positive, negative, p, eps));
  return reduce_losses(at_least_zero(margin + near - far), reduction);
}

Tensor MultiMarginLoss::call(const Tensor& input, const Tensor& target, double p, double margin,
                             const std::optional<Tensor>& weight, Reduction reduction) {
  check(p == 1 || p == 2, ErrorCode::kInvalidArgument, doc.name, "p must be 1 or 2, got ", p, '.');
  Shape expected = input.shape();
  if (!expected.empty()) expected.pop_back();
  check_scores(doc.name, input, target, expected);
  const std::int64_t classes = input.size(-1);
  check(!weight.has_value() || weight->shape() == Shape{classes}, ErrorCode::kShapeMismatch,
        doc.name, "weight must have shape ", Shape{classes}, ", got ",
        weight.has_value() ? weight->shape() : Shape{}, '.');
  const Tensor indices = Unsqueeze::call(target, -1);
  Var lacking = relu(margin - Gather::call(input, -1, indices) + input);
  if (p == 2) lacking = lacking * lacking;
  if (weight.has_value()) lacking = lacking * Take::call(*weight, indices);
  const Var others = moved(Arange::call(classes), input.device()) != indices;
  const Var losses = sum_of_vectors(where(others, lacking, 0)) / static_cast<double>(classes);
  return reduce_losses(losses, reduction);
}

Tensor MultilabelMarginLoss::call(const Tensor& input, const Tensor& target, Reduction reduction) {
  check_scores(doc.name, input, target, input.shape());
  const Var is_listed = Cumprod::call(target >= 0, -1) != 0;
  const Tensor listed = target * is_listed;
  const Tensor zeros = ZerosLike::call(listed);
  const Var is_other = ScatterAdd::call(zeros, -1, listed, zeros + is_listed) == 0;
  const auto by_target = [](const Var& x) { return Unsqueeze::call(x, -1); };
  const auto by_class = [](const Var& x) { return Unsqueeze::call(x, -2); };
  const Var lacking = relu(1 - by_target(Gather::call(input, -1, listed)) + by_class(input));
  const Var counted = where(by_target(is_listed) & by_class(is_other), lacking, 0);
  const Var losses = Sum::call(counted, Dims{-2, -1}) / static_cast<double>(input.size(-1));
  return reduce_losses(losses, reduction);
}

Tensor MultilabelSoftMarginLoss::call(const Tensor& input, const Tensor& target,
                                      const std::optional<Tensor>& weight, Reduction reduction) {
  check(input.ndim() > 0, ErrorCode::kShapeMismatch, doc.name,
        "expected the classes along the last dimension, got a 0-dim input.");
  const Var y = target;
  const auto logsigmoid = [](const Var& x) { return eg::call<op::Logsigmoid>(x); };
  Var losses = -(y * logsigmoid(input) + (1 - y) * logsigmoid(-input));
  if (weight.has_value()) losses = losses * *weight;
  losses = sum_of_vectors(losses) / static_cast<double>(input.size(-1));
  return reduce_losses(losses, reduction);
}

}  // namespace eg
