#pragma once

// Constants: the numbers that occur in a formula, which shaders take as uniforms.
//
// A formula may compute with its parameters before they meet an operand, as in `x * (1 / p.alpha)`.
// The text of a shader must not contain such a number, or every value would need a separate
// pipeline. A formula is therefore also evaluated on Constants, which only track the numbers in it,
// from left to right. (Not in the order of evaluation, which C++ does not specify.) In the text of
// the shader, which is generated from the Tree of the same formula, the number at position 2 of
// that list is `k2`.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "formulas/elementwise.h"

namespace eg::op {

/// The numbers of one or several formulas.
class ConstantList {
 public:
  /// Sufficient for every formula with parameters; a test checks this.
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

/// An operand or subexpression of a formula: the index of a node in this thread's tree of numbers,
/// which `take_constants` reads. Only one byte, because every formula with parameters is compiled
/// for it and is part of every download.
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

  std::uint8_t index_ = 0;
};

/// Appends the numbers in the result of a formula, from left to right, and clears the tree.
void take_constants(Constants formula, ConstantList& list);

/// True for an op with a numeric parameter, whose value cannot be part of a shader's text.
template <class Op>
inline constexpr bool kTakesNumbers =
    std::any_of(kParams<Op>.begin(), kParams<Op>.end(),
                [](const Param& param) { return param.kind == Param::Kind::kNumber; });

/// Returns the numbers of the forward formula; none if all of them are literals in the text.
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

/// Returns the numbers of the gradient formulas of all inputs, one list after the other.
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
