#pragma once

// Activation functions.
//
// At a kink the gradient is the same as PyTorch's: that of the side whose comparison includes the
// point.

#include <numbers>

#include "base/type_list.h"
#include "formulas/elementwise.h"

namespace eg::op {

namespace detail {

/// log(1 + exp(x)), or x where the difference is below rounding, so that no derivative contains an
/// infinity.
constexpr auto softplus_of(auto x) {
  constexpr double kIsLinear = 40;
  return where(x > kIsLinear, x, log1p(exp(where(x > kIsLinear, 0, x))));
}

/// elu and its variants: scale * x above 0, alpha * scale * expm1(x * input_scale) elsewhere.
constexpr auto elu_of(auto x, double alpha, double scale, double input_scale) {
  return where(x > 0, x * scale, expm1(x * input_scale) * (alpha * scale));
}
constexpr auto elu_gradient(auto g, auto x, double alpha, double scale, double input_scale) {
  // exp of a large x would be infinite, and infinity times 0 is NaN in the next derivative.
  const auto negative = where(x < 0, x, 0);
  return where(x <= 0, g * (exp(negative * input_scale) * (alpha * scale * input_scale)),
               g * scale);
}

}  // namespace detail

struct Relu {
  static constexpr Doc doc{"relu", "max(x, 0)."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr bool takes_bool = false;
  static constexpr Domain domain{0.25, 2};
  static constexpr auto forward(auto x) { return maximum(x, 0); }
  static constexpr auto grad(auto g, auto, auto y) { return where(y <= 0, 0, g); }
};

struct Relu6 {
  static constexpr Doc doc{"relu6", "min(max(x, 0), 6)."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr bool takes_bool = false;
  static constexpr Domain domain{0.25, 2};
  static constexpr auto forward(auto x) { return minimum(maximum(x, 0), 6); }
  static constexpr auto grad(auto g, auto x, auto) { return where((x <= 0) | (x >= 6), 0, g); }
};

struct LeakyRelu {
  static constexpr Doc doc{"leaky_relu", "x above zero, x * negative_slope below."};
  static constexpr Domain domain{-2, -0.25};
  struct Params {
    double negative_slope = 0.01;
  };
  static constexpr std::array params{Param{"negative_slope", "0.01"}};
  static constexpr auto forward(auto x, const Params& p) {
    return where(x > 0, x, x * p.negative_slope);
  }
  static constexpr auto grad(auto g, auto x, auto, const Params& p) {
    return where(x > 0, g, g * p.negative_slope);
  }
};

struct Elu {
  static constexpr Doc doc{"elu", "x above zero, alpha * (exp(x) - 1) below."};
  static constexpr Domain domain{-2, -0.25};
  struct Params {
    double alpha = 1;
  };
  static constexpr std::array params{Param{"alpha", "1"}};
  static constexpr auto forward(auto x, const Params& p) {
    return detail::elu_of(x, p.alpha, 1, 1);
  }
  static constexpr auto grad(auto g, auto x, auto, const Params& p) {
    return detail::elu_gradient(g, x, p.alpha, 1, 1);
  }
};

struct Selu {
  static constexpr Doc doc{"selu",
                           "elu, scaled so that activations tend to mean 0 and variance 1."};
  static constexpr Domain domain{-2, -0.25};
  static constexpr auto forward(auto x) { return detail::elu_of(x, kAlpha, kScale, 1); }
  static constexpr auto grad(auto g, auto x, auto) {
    return detail::elu_gradient(g, x, kAlpha, kScale, 1);
  }

 private:
  static constexpr double kAlpha = 1.6732632423543772848170429916717;
  static constexpr double kScale = 1.0507009873554804934193349852946;
};

struct Celu {
  static constexpr Doc doc{"celu", "x above zero, alpha * (exp(x / alpha) - 1) below."};
  static constexpr Domain domain{-2, -0.25};
  struct Params {
    double alpha = 1;
  };
  static constexpr std::array params{Param{"alpha", "1"}};
  static constexpr auto forward(auto x, const Params& p) {
    return detail::elu_of(x, p.alpha, 1, 1 / p.alpha);
  }
  static constexpr auto grad(auto g, auto x, auto, const Params& p) {
    return detail::elu_gradient(g, x, p.alpha, 1, 1 / p.alpha);
  }
};

struct Sigmoid {
  static constexpr Doc doc{"sigmoid", "1 / (1 + exp(-x))."};
  static constexpr bool is_hot = true;
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr auto forward(auto x) { return sigmoid(x); }
  static constexpr auto grad(auto g, auto, auto y) { return g * ((1 - y) * y); }
};

struct Logsigmoid {
  static constexpr Doc doc{"logsigmoid", "log(sigmoid(x)), without underflow."};
  static constexpr auto forward(auto x) { return minimum(x, 0) - log1p(exp(-abs(x))); }
  static constexpr auto grad(auto g, auto x, auto) { return g * sigmoid(-x); }
};

struct Silu {
  static constexpr Doc doc{"silu", "x * sigmoid(x)."};
  static constexpr bool is_hot = true;
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr auto forward(auto x) { return x * sigmoid(x); }
  static constexpr auto grad(auto g, auto x, auto) {
    const auto s = sigmoid(x);
    return g * (s * (1 + x * (1 - s)));
  }
};

struct Mish {
  static constexpr Doc doc{"mish", "x * tanh(softplus(x))."};
  static constexpr auto forward(auto x) { return x * tanh(detail::softplus_of(x)); }
  static constexpr auto grad(auto g, auto x, auto) {
    const auto t = tanh(detail::softplus_of(x));
    return g * (t + x * sigmoid(x) * (1 - t * t));
  }
};

struct Gelu {
  static constexpr Doc doc{"gelu",
                           "x times the standard normal cumulative distribution function of x."};
  static constexpr bool is_hot = true;
  struct Params {
    double approximate = 0;
  };
  static constexpr std::array params{
      Param{"approximate", "'none'", Param::Kind::kChoice, "none|tanh"}};
  static constexpr auto forward(auto x, const Params& p) {
    return p.approximate == 0 ? exact(x) : with_tanh(x);
  }
  static constexpr auto grad(auto g, auto x, auto, const Params& p) {
    return p.approximate == 0 ? exact_gradient(g, x) : with_tanh_gradient(g, x);
  }

 private:
  static constexpr double kSqrtHalf = std::numbers::sqrt2 / 2;
  static constexpr double kSqrtTwoOverPi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  static constexpr double kCubic = 0.044715;

  // erfc stays accurate where the distribution function is tiny; 1 + erf does not. The same scaled
  // argument is squared for the density, so that both share an exponential.
  static constexpr auto exact(auto x) { return x * (0.5 * erfc(-kSqrtHalf * x)); }
  static constexpr auto exact_gradient(auto g, auto x) {
    const auto scaled = -kSqrtHalf * x;
    const auto density = 0.5 * kSqrtTwoOverPi * exp(-scaled * scaled);
    return g * (0.5 * erfc(scaled) + x * density);
  }

  static constexpr auto inner(auto x) { return kSqrtTwoOverPi * (x + kCubic * x * x * x); }
  static constexpr auto with_tanh(auto x) { return 0.5 * x * (1 + tanh(inner(x))); }
  static constexpr auto with_tanh_gradient(auto g, auto x) {
    const auto t = tanh(inner(x));
    const auto inner_slope = kSqrtTwoOverPi * (1 + 3 * kCubic * x * x);
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner_slope);
  }
};

struct Softplus {
  static constexpr Doc doc{"softplus",
                           "log(1 + exp(beta x)) / beta; x where beta x is above threshold."};
  struct Params {
    double beta = 1;
    double threshold = 20;
  };
  static constexpr std::array params{Param{"beta", "1"}, Param{"threshold", "20"}};
  static constexpr auto forward(auto x, const Params& p) {
    const auto z = x * p.beta;
    return where(z > p.threshold, x, log1p(exp(z)) / p.beta);
  }
  static constexpr auto grad(auto g, auto x, auto, const Params& p) {
    const auto z = x * p.beta;
    return where(z > p.threshold, g, g * sigmoid(z));
  }
};

struct Softsign {
  static constexpr Doc doc{"softsign", "x / (1 + |x|)."};
  static constexpr Domain domain{0.25, 2};
  static constexpr auto forward(auto x) { return x / (1 + abs(x)); }
  static constexpr auto grad(auto g, auto x, auto) {
    const auto scale = 1 + abs(x);
    return g / (scale * scale);
  }
};

struct Tanhshrink {
  static constexpr Doc doc{"tanhshrink", "x - tanh(x)."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr auto forward(auto x) { return x - tanh(x); }
  static constexpr auto grad(auto g, auto x, auto) {
    const auto t = tanh(x);
    return g * (t * t);
  }
};

struct Softshrink {
  static constexpr Doc doc{"softshrink", "x shrunk towards zero by lambd; 0 in [-lambd, lambd]."};
  static constexpr Domain domain{0.75, 2};
  struct Params {
    double lambd = 0.5;
  };
  static constexpr std::array params{Param{"lambd", "0.5"}};
  // x * 0 instead of 0, so that NaN propagates.
  static constexpr auto forward(auto x, const Params& p) {
    return where(x > p.lambd, x - p.lambd, where(x < -p.lambd, x + p.lambd, x * 0));
  }
  static constexpr auto grad(auto g, auto x, auto, const Params& p) {
    return where((x >= -p.lambd) & (x <= p.lambd), 0, g);
  }
};

struct Hardshrink {
  static constexpr Doc doc{"hardshrink", "x, but 0 in [-lambd, lambd]."};
  static constexpr Domain domain{0.75, 2};
  struct Params {
    double lambd = 0.5;
  };
  static constexpr std::array params{Param{"lambd", "0.5"}};
  static constexpr auto forward(auto x, const Params& p) {
    return where((x >= -p.lambd) & (x <= p.lambd), 0, x);
  }
  static constexpr auto grad(auto g, auto x, auto, const Params& p) {
    return where((x >= -p.lambd) & (x <= p.lambd), 0, g);
  }
};

struct Hardtanh {
  static constexpr Doc doc{"hardtanh", "x clamped to [min_val, max_val]."};
  static constexpr Domain domain{-0.9, 0.9};
  struct Params {
    double min_val = -1;
    double max_val = 1;
  };
  static constexpr std::array params{Param{"min_val", "-1"}, Param{"max_val", "1"}};
  static constexpr auto forward(auto x, const Params& p) {
    return minimum(maximum(x, p.min_val), p.max_val);
  }
  static constexpr auto grad(auto g, auto x, auto, const Params& p) {
    return where((x <= p.min_val) | (x >= p.max_val), 0, g);
  }
};

struct Hardsigmoid {
  static constexpr Doc doc{"hardsigmoid", "min(max(x + 3, 0), 6) / 6."};
  static constexpr auto forward(auto x) { return minimum(maximum(x + 3, 0), 6) / 6; }
  static constexpr auto grad(auto g, auto x, auto) { return where((x > -3) & (x < 3), g / 6, 0); }
};

struct Hardswish {
  static constexpr Doc doc{"hardswish", "x * hardsigmoid(x)."};
  static constexpr auto forward(auto x) { return x * minimum(maximum(x + 3, 0), 6) / 6; }
  static constexpr auto grad(auto g, auto x, auto) {
    // Constant at the boundaries of the pieces, where the second derivative is zero.
    const auto inside = where(x < 3, where(x > -3, x, -3), 3);
    return where(x < -3, 0, where(x <= 3, g * (inside / 3 + 0.5), g));
  }
};

struct Prelu {
  static constexpr Doc doc{"prelu", "input where it is positive, else weight * input."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr bool takes_bool = false;
  static constexpr std::array<std::string_view, 2> operands{"input", "weight"};
  static constexpr auto forward(auto x, auto weight) { return where(x > 0, x, weight * x); }
  static constexpr auto grad_a(auto g, auto x, auto weight, auto) {
    return where(x > 0, g, g * weight);
  }
  static constexpr auto grad_b(auto g, auto x, auto, auto) { return where(x > 0, 0, g * x); }
};

struct Threshold {
  static constexpr Doc doc{"threshold", "input where it is above threshold, else value."};
  struct Params {
    double threshold = 0;
    double value = 0;
  };
  static constexpr std::array params{Param{"threshold", "0"}, Param{"value", "0"}};
  // NaN propagates.
  static constexpr auto forward(auto x, const Params& p) {
    return where(x <= p.threshold, p.value, x);
  }
  static constexpr auto grad(auto g, auto x, auto, const Params& p) {
    return where(x <= p.threshold, 0, g);
  }
};

using ActivationOps = TypeList<Relu, Relu6, LeakyRelu, Elu, Selu, Celu, Sigmoid, Logsigmoid, Silu,
                               Mish, Gelu, Softplus, Softsign, Tanhshrink, Softshrink, Hardshrink,
                               Hardtanh, Hardsigmoid, Hardswish>;

/// Formulas of ops with additional argument checks (ops/elementwise/branch.h).
using BranchFormulas = TypeList<Prelu, Threshold>;

}  // namespace eg::op
