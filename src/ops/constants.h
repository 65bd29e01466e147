#pragma once

// Constants: the numbers of a formula, for a shader that takes them as uniforms.
//
// A formula computes with its parameters before they meet an operand, `x * (1 / p.alpha)`. The text
// of a shader must not hold such a number, or each would be a pipeline of its own. So a formula is
// also evaluated on Constants, which are nothing but the list of the numbers in it, from left to
// right. (Not in the order of evaluation, which C++ leaves open.) The shader's text, made of the
// same formula's Tree, calls the number at position 2 of that list `k2`.

#include <algorithm>
#include <array>
#include <cstddef>

#include "ops/elementwise.h"

namespace eg::op {

class Constants {
 public:
  /// Enough for every formula with parameters; a test counts.
  static constexpr std::size_t kMost = 16;

  Constants() = default;
  Constants(double value) : values_{value}, count_(1) {}

  /// The numbers of `a`, then those of `b`. A call: inlined it would be most of every formula.
  [[gnu::noinline]] static Constants join(const Constants& a, const Constants& b) {
    Constants both = a;
    for (std::size_t i = 0; i < b.count_ && both.count_ < kMost; ++i)
      both.values_[both.count_++] = b.values_[i];
    return both;
  }

  std::size_t size() const { return count_; }
  const double* begin() const { return values_.data(); }
  const double* end() const { return begin() + count_; }
  double operator[](std::size_t i) const { return values_[i]; }

  friend Constants operator+(const Constants& a, const Constants& b) { return join(a, b); }
  friend Constants operator-(const Constants& a, const Constants& b) { return join(a, b); }
  friend Constants operator*(const Constants& a, const Constants& b) { return join(a, b); }
  friend Constants operator/(const Constants& a, const Constants& b) { return join(a, b); }
  friend Constants operator-(const Constants& a) { return a; }
  friend Constants operator==(const Constants& a, const Constants& b) { return join(a, b); }
  friend Constants operator!=(const Constants& a, const Constants& b) { return join(a, b); }
  friend Constants operator<(const Constants& a, const Constants& b) { return join(a, b); }
  friend Constants operator<=(const Constants& a, const Constants& b) { return join(a, b); }
  friend Constants operator>(const Constants& a, const Constants& b) { return join(a, b); }
  friend Constants operator>=(const Constants& a, const Constants& b) { return join(a, b); }
  friend Constants operator&(const Constants& a, const Constants& b) { return join(a, b); }
  friend Constants operator|(const Constants& a, const Constants& b) { return join(a, b); }
  friend Constants operator!(const Constants& a) { return a; }
  friend Constants conj(const Constants& a) { return a; }
  friend Constants real(const Constants& a) { return a; }
  friend Constants where(const Constants& mask, const Constants& a, const Constants& b) {
    return join(join(mask, a), b);
  }
#define EG_WORD(word) \
  friend Constants word(const Constants& a) { return a; }
  EG_UNARY_WORDS(EG_WORD)
#undef EG_WORD
#define EG_WORD(word) \
  friend Constants word(const Constants& a, const Constants& b) { return join(a, b); }
  EG_BINARY_WORDS(EG_WORD)
#undef EG_WORD

 private:
  std::array<double, kMost> values_{};
  std::size_t count_ = 0;
};

/// True for an op with a parameter that is a number, and so with numbers that a text cannot hold.
template <class Op>
inline constexpr bool kTakesNumbers =
    std::any_of(kParams<Op>.begin(), kParams<Op>.end(),
                [](const Param& param) { return param.kind == Param::Kind::kNumber; });

/// The numbers of the forward formula; none where all are in the text.
template <class Op>
Constants forward_constants(const ParamsOf<Op>& p) {
  if constexpr (!kTakesNumbers<Op>) {
    return {};
  } else {
    return [&]<std::size_t... J>(std::index_sequence<J...>) {
      return Constants(forward<Op>(p, (static_cast<void>(J), Constants())...));
    }(std::make_index_sequence<kArity<Op>>{});
  }
}

/// The numbers of the gradient formulas of all inputs, one list after the other.
template <class Op>
Constants gradient_constants(const ParamsOf<Op>& p) {
  Constants all;
  const auto append = [&]<std::size_t I>() {
    if constexpr (kTakesNumbers<Op> && kHasGradient<Op, I>) {
      [&]<std::size_t... J>(std::index_sequence<J...>) {
        const Constants list(gradient<Op, I>(p, (static_cast<void>(J), Constants())...));
        all = Constants::join(all, list);
      }(std::make_index_sequence<kArity<Op> + 2>{});
    }
  };
  append.template operator()<0>();
  append.template operator()<1>();
  append.template operator()<2>();
  return all;
}

}  // namespace eg::op
