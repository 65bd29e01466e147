#pragma once

// Losses with a margin: between two inputs, between distances, or between the score of the right
// class and those of the others. Beyond the margin the loss is zero. Composites.

#include "dispatch/function_op.h"

namespace eg {

struct MarginRankingLoss {
  static constexpr op::Doc doc{
      "margin_ranking_loss",
      "By how much input1 fails to be margin above (target 1) or below (target -1) input2."};
  static constexpr std::array args{Arg{"input1"}, Arg{"input2"}, Arg{"target"}, Arg{"margin", "0"},
                                   Arg{"reduction", "'mean'"}};
  static constexpr std::array<std::string_view, 2> samples{
      "T([4]), T([4]), T([4])", "T([2, 3]), T([2, 3]), T([2, 3]), 0.5, 'none'"};
  static Tensor call(const Tensor& input1, const Tensor& input2, const Tensor& target,
                     double margin = 0, Reduction reduction = Reduction::kMean);
};

struct HingeEmbeddingLoss {
  static constexpr op::Doc doc{
      "hinge_embedding_loss",
      "The distance input (target 1), or by how much it is less than margin (target -1)."};
  static constexpr std::array args{Arg{"input"}, Arg{"target"}, Arg{"margin", "1"},
                                   Arg{"reduction", "'mean'"}};
  static constexpr std::array<std::string_view, 2> samples{"T([4]), T([4])",
                                                           "T([2, 3]), T([2, 3]), 0.5, 'sum'"};
  static Tensor call(const Tensor& input, const Tensor& target, double margin = 1,
                     Reduction reduction = Reduction::kMean);
};

struct SoftMarginLoss {
  static constexpr op::Doc doc{"soft_margin_loss",
                               "log(1 + exp(-target * input)) for targets 1 and -1."};
  static constexpr std::array args{Arg{"input"}, Arg{"target"}, Arg{"reduction", "'mean'"}};
  static constexpr std::array<std::string_view, 2> samples{"T([4]), T([4])",
                                                           "T([2, 3]), T([2, 3]), 'none'"};
  static Tensor call(const Tensor& input, const Tensor& target,
                     Reduction reduction = Reduction::kMean);
};

struct CosineEmbeddingLoss {
  static constexpr op::Doc doc{
      "cosine_embedding_loss",
      "One minus the cosine of two vectors (target 1), or how far it is above margin (target -1)."};
  static constexpr std::array args = MarginRankingLoss::args;
  static constexpr std::array<std::string_view, 2> samples{
      "T([4]), T([4]), I([], 1)", "T([2, 3]), T([2, 3]), I([2], 2), -0.5, 'sum'"};
  static Tensor call(const Tensor& input1, const Tensor& input2, const Tensor& target,
                     double margin = 0, Reduction reduction = Reduction::kMean);
};

struct TripletMarginLoss {
  static constexpr op::Doc doc{
      "triplet_margin_loss",
      "By how much anchor fails to be closer to positive than to negative by margin, in the "
      "p-norm; with swap, the distance between positive and negative is used if it is smaller."};
  static constexpr bool spreads_nan = true;
  static constexpr std::array args{
      Arg{"anchor"}, Arg{"positive"},    Arg{"negative"},      Arg{"margin", "1"},
      Arg{"p", "2"}, Arg{"eps", "1e-6"}, Arg{"swap", "false"}, Arg{"reduction", "'mean'"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([3, 4]), T([3, 4]), T([3, 4])", "T([2, 3]), T([2, 3]), T([2, 3]), 9, 1, 1e-6, true, 'sum'",
      "T([4]), T([4]), T([4]), 3, 3"};
  static Tensor call(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                     double margin = 1, double p = 2, double eps = 1e-6, bool swap = false,
                     Reduction reduction = Reduction::kMean);
};

struct MultiMarginLoss {
  static constexpr op::Doc doc{
      "multi_margin_loss",
      "By how much the scores of the other classes come within margin of the target's, to the "
      "power p (1 or 2), divided by the number of classes."};
  static constexpr bool spreads_nan = true;
  static constexpr std::array args{Arg{"input"},          Arg{"target"},
                                   Arg{"p", "1"},         Arg{"margin", "1"},
                                   Arg{"weight", "null"}, Arg{"reduction", "'mean'"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([3, 4]), I([3], 4)", "T([2, 3]), I([2], 3), 2, 1.5, T([3], 0.5, 2), 'none'",
      "T([3]), I([], 3)"};
  static Tensor call(const Tensor& input, const Tensor& target, double p = 1, double margin = 1,
                     const std::optional<Tensor>& weight = {},
                     Reduction reduction = Reduction::kMean);
};

struct MultilabelMarginLoss {
  static constexpr op::Doc doc{
      "multilabel_margin_loss",
      "By how much the scores of other classes come within one of the targets', divided by the "
      "number of classes. A row of target lists classes up to the first negative number."};
  static constexpr std::array args = SoftMarginLoss::args;
  static constexpr std::array<std::string_view, 2> samples{"T([3, 4]), I([3, 4], 4)",
                                                           "T([5]), I([5], 4), 'sum'"};
  static Tensor call(const Tensor& input, const Tensor& target,
                     Reduction reduction = Reduction::kMean);
};

struct MultilabelSoftMarginLoss {
  static constexpr op::Doc doc{
      "multilabel_soft_margin_loss",
      "Cross entropy of independent classes from their logits, as a mean over the classes."};
  static constexpr std::array args{Arg{"input"}, Arg{"target"}, Arg{"weight", "null"},
                                   Arg{"reduction", "'mean'"}};
  static constexpr std::array<std::string_view, 2> samples{
      "T([3, 4]), T([3, 4], 0, 1)", "T([2, 3]), T([2, 3], 0, 1), T([3], 0.5, 2), 'none'"};
  static Tensor call(const Tensor& input, const Tensor& target,
                     const std::optional<Tensor>& weight = {},
                     Reduction reduction = Reduction::kMean);
};

using MarginLossOps =
    TypeList<MarginRankingLoss, HingeEmbeddingLoss, SoftMarginLoss, CosineEmbeddingLoss,
             TripletMarginLoss, MultiMarginLoss, MultilabelMarginLoss, MultilabelSoftMarginLoss>;

}  // namespace eg
