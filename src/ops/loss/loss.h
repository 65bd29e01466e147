#pragma once

// Losses: how far an input is from its target, per element or as a mean or sum.

#include "dispatch/function_op.h"
#include "ops/loss/class_loss.h"
#include "ops/loss/likelihood_loss.h"
#include "ops/loss/margin_loss.h"

namespace eg {

/// How kl_div combines its elements; batchmean divides the sum by the first size.
enum class KlReduction : std::uint8_t { kNone, kMean, kSum, kBatchmean };
constexpr std::array<std::string_view, 4> enum_names(KlReduction) {
  return {"none", "mean", "sum", "batchmean"};
}

struct MseLoss {
  static constexpr op::Doc doc{"mse_loss", "Mean squared error."};
  static constexpr std::array args{Arg{"input"}, Arg{"target"}, Arg{"reduction", "'mean'"}};
  static constexpr std::array<std::string_view, 2> samples{"T([3, 2]), T([3, 2])",
                                                           "T([3, 2]), T([3, 2]), 'none'"};
  static Tensor call(const Tensor& input, const Tensor& target,
                     Reduction reduction = Reduction::kMean);
};

struct L1Loss {
  static constexpr op::Doc doc{"l1_loss", "Mean absolute error."};
  static constexpr std::array args = MseLoss::args;
  static constexpr std::array samples = MseLoss::samples;
  static Tensor call(const Tensor& input, const Tensor& target,
                     Reduction reduction = Reduction::kMean);
};

struct SmoothL1Loss {
  static constexpr op::Doc doc{"smooth_l1_loss",
                               "Mean absolute error, smoothed to a parabola below beta."};
  static constexpr std::array args{Arg{"input"}, Arg{"target"}, Arg{"reduction", "'mean'"},
                                   Arg{"beta", "1"}};
  static constexpr std::array<std::string_view, 2> samples{"T([6]), T([6])",
                                                           "T([6]), T([6]), 'sum', 0.5"};
  static Tensor call(const Tensor& input, const Tensor& target,
                     Reduction reduction = Reduction::kMean, double beta = 1);
};

struct HuberLoss {
  static constexpr op::Doc doc{"huber_loss", "Mean of half the squared error, linear above delta."};
  static constexpr std::array args{Arg{"input"}, Arg{"target"}, Arg{"reduction", "'mean'"},
                                   Arg{"delta", "1"}};
  static constexpr std::array samples = SmoothL1Loss::samples;
  static Tensor call(const Tensor& input, const Tensor& target,
                     Reduction reduction = Reduction::kMean, double delta = 1);
};

struct BinaryCrossEntropy {
  static constexpr op::Doc doc{"binary_cross_entropy", "Cross entropy of binary probabilities."};
  static constexpr std::array args{Arg{"input"}, Arg{"target"}, Arg{"weight", "null"},
                                   Arg{"reduction", "'mean'"}};
  static constexpr std::array<std::string_view, 2> samples{
      "T([5], 0.1, 0.9), T([5], 0.1, 0.9)",
      "T([2, 3], 0.1, 0.9), T([2, 3], 0, 1), T([3], 0.5, 2), 'sum'"};
  static Tensor call(const Tensor& input, const Tensor& target,
                     const std::optional<Tensor>& weight = {},
                     Reduction reduction = Reduction::kMean);
};

struct BinaryCrossEntropyWithLogits {
  static constexpr op::Doc doc{"binary_cross_entropy_with_logits",
                               "Binary cross entropy of sigmoid(input), stable for any input."};
  static constexpr std::array args{Arg{"input"}, Arg{"target"}, Arg{"weight", "null"},
                                   Arg{"reduction", "'mean'"}, Arg{"pos_weight", "null"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([5]), T([5], 0, 1)", "T([2, 3]), T([2, 3], 0, 1), T([3], 0.5, 2), 'none'",
      "T([2, 3]), T([2, 3], 0, 1), null, 'sum', T([3], 0.5, 2)"};
  static Tensor call(const Tensor& input, const Tensor& target,
                     const std::optional<Tensor>& weight = {},
                     Reduction reduction = Reduction::kMean,
                     const std::optional<Tensor>& pos_weight = {});
};

struct KlDiv {
  static constexpr op::Doc doc{
      "kl_div", "Kullback-Leibler divergence of target from the log-probabilities input."};
  static constexpr std::array args{Arg{"input"}, Arg{"target"}, Arg{"reduction", "'mean'"},
                                   Arg{"log_target", "false"}};
  static constexpr std::array<std::string_view, 2> samples{
      "T([3, 4], -3, -1), T([3, 4], 0.1, 1), 'batchmean'",
      "T([3, 4], -3, -1), T([3, 4], -3, -1), 'sum', true"};
  static Tensor call(const Tensor& input, const Tensor& target,
                     KlReduction reduction = KlReduction::kMean, bool log_target = false);
};

using LossOps = Concat<ClassLossOps,
                       TypeList<MseLoss, L1Loss, SmoothL1Loss, HuberLoss, BinaryCrossEntropy,
                                BinaryCrossEntropyWithLogits, KlDiv>,
                       MarginLossOps, LikelihoodLossOps>;

}  // namespace eg
