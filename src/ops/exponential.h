#pragma once

// Exponentials, logarithms, roots and hyperbolic functions.

#include "base/type_list.h"
#include "ops/elementwise.h"

namespace eg::op {

struct Exp {
  static constexpr Doc doc{"exp", "e to the power of every element."};
  static constexpr auto forward(auto x) { return exp(x); }
  static constexpr auto grad(auto g, auto, auto y) { return g * y; }
};

struct Log {
  static constexpr Doc doc{"log", "Natural logarithm of every element."};
  static constexpr Domain domain{0.5, 3};
  static constexpr auto forward(auto x) { return log(x); }
  static constexpr auto grad(auto g, auto x, auto) { return g / x; }
};

struct Tanh {
  static constexpr Doc doc{"tanh", "Hyperbolic tangent of every element."};
  static constexpr auto forward(auto x) { return tanh(x); }
  static constexpr auto grad(auto g, auto, auto y) { return g * (1 - y * y); }
};

using ExponentialOps = TypeList<Exp, Log, Tanh>;

}  // namespace eg::op
