#pragma once

// Constants: the numbers of a formula, for a shader that takes them as uniforms.
//
// A formula computes with its parameters before they meet an operand, `x * (1 / p.alpha)`. The text
// of a shader must not hold such a number, or each would be a pipeline of its own. So a formula is
// also evaluated on Constants, which know nothing but the numbers in it, from left to right. (Not
// in the order of evaluation, which C++ leaves open.) The shader's text, made of the same formula's
// Tree, calls the number at position 2 of that list `k2`.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "formulas/elementwise.h"

namespace eg::op {

/// The numbers of one or several formulas.
class ConstantList {
 public:
  /// Enough for every formula with parameters; a test counts.
  static constexpr std::size_t kMost = 16;

  void add(double value) {
    if (size_ < kMost) values_[size_++] = value;
  }
  std::size_t size() const { return size_; }
  const double* begin() const { return values_.data(); }
  const double* end() const { return begin() + size_; }

 private:
  std::array<double, kMost> values_{};
  std::size_t size_ = 0;
};

/// A formula's operand: a place in this thread's tree of numbers, which `take_constants` reads.
/// Just a byte, because every formula with parameters is compiled for it and every user downloads
/// that.
class Constants {
 public:
  Constants() = default;
  Constants(double value);
  friend void take_constants(Constants formula, ConstantList& list);

  friend Constants operator+(Constants a, Constants b) { return join(a, b); }
  friend Constants operator-(Constants a, Constants b) { return join(a, b); }
  friend Constants operator*(Constants a, Constants b) { return join(a, b); }
  friend Constants operator/(Constants a, Constants b) { return join(a, b); }
  friend Constants operator-(Constants a) { return a; }
  friend Constants operator==(Constants a, Constants b) { return join(a, b); }
  friend Constants operator!=(Constants a, Constants b) { return join(a, b); }
  friend Constants operator<(Constants a, Constants b) { return join(a, b); }
  friend Constants operator<=(Constants a, Constants b) { return join(a, b); }
  friend Constants operator>(Constants a, Constants b) { return join(a, b); }
  friend Constants operator>=(Constants a, Constants b) { return join(a, b); }
  friend Constants operator&(Constants a, Constants b) { return join(a, b); }
  friend Constants operator|(Constants a, Constants b) { return join(a, b); }
  friend Constants operator!(Constants a) { return a; }
  friend Constants conj(Constants a) { return a; }
  friend Constants real(Constants a) { return a; }
  friend Constants where(Constants mask, Constants a, Constants b) {
    return join(join(mask, a), b);
  }
#define EG_WORD(word) \
  friend Constants word(Constants a) { return a; }
  EG_UNARY_WORDS(EG_WORD)
#undef EG_WORD
#define EG_WORD(word) \
  friend Constants word(Constants a, Constants b) { return join(a, b); }
  EG_BINARY_WORDS(EG_WORD)
#undef EG_WORD

 private:
  static Constants join(Constants a, Constants b);

  std::uint8_t place_ = 0;
};

/// Appends the numbers of what a formula gave, from left to right, and forgets the tree.
void take_constants(Constants formula, ConstantList& list);

/// True for an op with a parameter that is a number, and so with numbers that a text cannot hold.
template <class Op>
inline constexpr bool kTakesNumbers =
    std::any_of(kParams<Op>.begin(), kParams<Op>.end(),
                [](const Param& param) { return param.kind == Param::Kind::kNumber; });

/// The numbers of the forward formula; none where all are in the text.
template <class Op>
ConstantList forward_constants(const ParamsOf<Op>& p) {
  ConstantList list;
  if constexpr (kTakesNumbers<Op>) {
    [&]<std::size_t... J>(std::index_sequence<J...>) {
      take_constants(Op::forward((static_cast<void>(J), Constants())..., p), list);
    }(std::make_index_sequence<kArity<Op>>{});
  }
  return list;
}

namespace detail {

template <class Op, std::size_t I, std::size_t... J>
void take_gradient_constants(const ParamsOf<Op>& p, ConstantList& list, std::index_sequence<J...>) {
  if constexpr (kHasGradient<Op, I>)
    take_constants(GradientFormula<Op, I>{}((static_cast<void>(J), Constants())..., p), list);
}

}  // namespace detail

/// The numbers of the gradient formulas of all inputs, one list after the other.
template <class Op>
ConstantList gradient_constants(const ParamsOf<Op>& p) {
  ConstantList list;
  if constexpr (kTakesNumbers<Op>) {
    constexpr auto kOperands = std::make_index_sequence<kArity<Op> + 2>{};
    detail::take_gradient_constants<Op, 0>(p, list, kOperands);
    detail::take_gradient_constants<Op, 1>(p, list, kOperands);
    detail::take_gradient_constants<Op, 2>(p, list, kOperands);
  }
  return list;
}

}  // namespace eg::op
