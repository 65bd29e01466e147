#pragma once

// Activation functions.

#include "base/type_list.h"
#include "ops/elementwise.h"

namespace eg::op {

struct Relu {
  static constexpr Doc doc{"relu", "max(x, 0)."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr auto forward(auto x) { return maximum(x, 0); }
  static constexpr auto grad(auto g, auto, auto y) { return where(y > 0, g, 0); }
};

struct LeakyRelu {
  static constexpr Doc doc{"leaky_relu", "x above zero, x * negative_slope below."};
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

using ActivationOps = TypeList<Relu, LeakyRelu>;

}  // namespace eg::op
