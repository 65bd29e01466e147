#pragma once

// The elementwise parts of losses, each with one forward kernel and one per gradient. They are not
// public ops; ops/loss/loss.h reduces them to the losses that users call.

#include "base/type_list.h"
#include "formulas/elementwise.h"

namespace eg::op {

struct SquaredError {
  static constexpr Doc doc{"squared_error", "(input - target)^2."};
  static constexpr auto forward(auto x, auto t) { return (x - t) * (x - t); }
  static constexpr auto grad_a(auto g, auto x, auto t, auto) { return g * (2 * (x - t)); }
  static constexpr auto grad_b(auto g, auto x, auto t, auto) { return g * (2 * (t - x)); }
};

struct AbsoluteError {
  static constexpr Doc doc{"absolute_error", "|input - target|."};
  static constexpr auto forward(auto x, auto t) { return abs(x - t); }
  static constexpr auto grad_a(auto g, auto x, auto t, auto) { return g * sign(x - t); }
  static constexpr auto grad_b(auto g, auto x, auto t, auto) { return g * sign(t - x); }
};

struct SmoothAbsoluteError {
  static constexpr Doc doc{"smooth_absolute_error",
                           "Quadratic below beta and linear above, scaled to be continuous."};
  struct Params {
    double beta = 1;
  };
  static constexpr std::array params{Param{"beta", "1"}};
  // Inlined, because a call would convert beta again for each pack.
  [[gnu::always_inline]] static constexpr auto forward(auto x, auto t, const Params& p) {
    const auto d = abs(x - t);
    return where(d < p.beta, d * d * (0.5 / p.beta), d - 0.5 * p.beta);
  }
  static constexpr auto slope(auto d, const Params& p) {
    // NaN takes the branch that propagates it.
    return where(abs(d) >= p.beta, sign(d), d / p.beta);
  }
  static constexpr auto grad_a(auto g, auto x, auto t, auto, const Params& p) {
    return g * slope(x - t, p);
  }
  static constexpr auto grad_b(auto g, auto x, auto t, auto, const Params& p) {
    return g * slope(t - x, p);
  }
};

struct HuberError {
  static constexpr Doc doc{"huber_error", "Half the square up to delta, and linear above."};
  struct Params {
    double delta = 1;
  };
  static constexpr std::array params{Param{"delta", "1"}};
  static constexpr auto forward(auto x, auto t, const Params& p) {
    const auto d = abs(x - t);
    return where(d <= p.delta, d * d * 0.5, (d - 0.5 * p.delta) * p.delta);
  }
  static constexpr auto slope(auto d, const Params& p) {
    return where(abs(d) > p.delta, sign(d) * p.delta, d);
  }
  static constexpr auto grad_a(auto g, auto x, auto t, auto, const Params& p) {
    return g * slope(x - t, p);
  }
  static constexpr auto grad_b(auto g, auto x, auto t, auto, const Params& p) {
    return g * slope(t - x, p);
  }
};

/// Logarithms are limited to at least -100, so that the loss of a confident wrong prediction stays
/// finite.
struct BinaryCrossEntropyError {
  static constexpr Doc doc{"binary_cross_entropy_error", "-(t log(x) + (1 - t) log(1 - x))."};
  static constexpr auto forward(auto x, auto t) {
    return (t - 1) * maximum(log1p(-x), -100) - t * maximum(log(x), -100);
  }
  static constexpr auto grad_a(auto g, auto x, auto t, auto) {
    return g * ((x - t) / maximum((1 - x) * x, 1e-12));
  }
  static constexpr auto grad_b(auto g, auto x, auto, auto) { return g * (log1p(-x) - log(x)); }
};

/// The third operand is the weight of positive examples.
struct BinaryCrossEntropyWithLogitsError {
  static constexpr Doc doc{"binary_cross_entropy_with_logits_error",
                           "Binary cross entropy of sigmoid(x), without overflow."};
  static constexpr std::array<std::string_view, 3> operands{"input", "target", "pos_weight"};
  // log(1 + exp(-x))
  static constexpr auto positive_cost(auto x) { return log1p(exp(-abs(x))) + maximum(-x, 0); }
  static constexpr auto scale(auto t, auto p) { return (p - 1) * t + 1; }
  static constexpr auto forward(auto x, auto t, auto p) {
    return (1 - t) * x + scale(t, p) * positive_cost(x);
  }
  static constexpr auto grad_a(auto g, auto x, auto t, auto p, auto) {
    return g * (scale(t, p) * sigmoid(x) - p * t);
  }
  static constexpr auto grad_b(auto g, auto x, auto, auto p, auto) {
    return g * ((p - 1) * positive_cost(x) - x);
  }
  static constexpr auto grad_c(auto g, auto x, auto t, auto, auto) {
    return g * (t * positive_cost(x));
  }
};

struct KlError {
  static constexpr Doc doc{"kl_error", "t (log(t) - x), which is 0 where t is 0."};
  static constexpr auto log_target(auto t) { return log(where(t == 0, 1, t)); }
  static constexpr auto forward(auto x, auto t) { return t * log_target(t) - t * x; }
  static constexpr auto grad_a(auto g, auto, auto t, auto) { return -g * t; }
  static constexpr auto grad_b(auto g, auto x, auto t, auto) { return g * (log_target(t) + 1 - x); }
};

struct KlErrorOfLog {
  static constexpr Doc doc{"kl_error_of_log",
                           "exp(t) (t - x), for a target that is also a logarithm."};
  static constexpr auto forward(auto x, auto t) { return exp(t) * (t - x); }
  static constexpr auto grad_a(auto g, auto, auto t, auto) { return -g * exp(t); }
  static constexpr auto grad_b(auto g, auto x, auto t, auto) { return g * (exp(t) * (t - x + 1)); }
};

using LossFormulas =
    TypeList<SquaredError, AbsoluteError, SmoothAbsoluteError, HuberError, BinaryCrossEntropyError,
             BinaryCrossEntropyWithLogitsError, KlError, KlErrorOfLog>;

}  // namespace eg::op
