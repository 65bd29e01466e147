#pragma once

// The language in which formulas are written.
//
// An elementwise op is a type with a doc sentence, a formula for its value and one for the gradient
// of each input. A formula is a function template; what it computes depends on the type it is
// evaluated on:
//
//   Probe          which operands the formula reads: what backward has to save
//   cpu::Pack<T>   a SIMD register: the CPU kernel, forward and gradient
//   Var            a tensor: a gradient that is itself recorded, for higher orders
//   Tree           the formula as an expression tree, from which shaders are generated
//   Constants      the numbers in it, which shaders take as uniforms
//
// All of them support + - * /, comparisons, where(mask, a, b), numbers, and the words below. To add
// a word, add it to a list here; the compiler then reports every type that lacks it. Every word is
// also the op of that name (all.h checks this). Applied to tensors, a word is a call of its op, so
// a gradient can itself be differentiated.
//
// A gradient formula is linear in the incoming gradient g: it multiplies, divides or selects g, and
// never compares it. If one side of a `where` would be infinite or NaN outside its region, guard
// the operand and not only the result: where(m, f(where(m, x, 1)), 0). Otherwise the derivative of
// the side not taken is multiplied by zero, which does not remove an infinity.

#include <array>
#include <cstdint>
#include <string_view>

// clang-format off

/// Words with one operand. round rounds halves to even; sign(0) is 0; gradients at kinks are defined
/// by the op.
#define EG_UNARY_WORDS(X)                                                                        \
  X(abs) X(sign) X(sgn) X(floor) X(ceil) X(round) X(trunc) X(sqrt) X(rsqrt)                             \
  X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sigmoid)                            \
  X(sin) X(cos) X(tan) X(asin) X(acos) X(atan)                                                   \
  X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh)                                             \
  X(erf) X(erfc) X(erfcx) X(erfinv) X(ndtri) X(lgamma) X(digamma) X(i0e) X(i1e)

/// Words with two operands. maximum and minimum propagate NaN, fmax and fmin prefer the number; fmod
/// has the sign of the dividend, remainder that of the divisor; polygamma(n, x) is the n-th
/// derivative of digamma. EG_INTEGER_WORDS are about the bits and divisors of integers.
#define EG_BINARY_WORDS(X)                                                                       \
  X(maximum) X(minimum) X(fmax) X(fmin) X(copysign) X(pow) X(atan2) X(hypot)                     \
  X(fmod) X(remainder) X(floor_divide) X(polygamma) X(zeta) X(gammainc) X(gammaincc)            \
  EG_INTEGER_WORDS(X)
#define EG_INTEGER_WORDS(X)                                                                      \
  X(bitwise_and) X(bitwise_or) X(bitwise_xor) X(bitwise_left_shift) X(bitwise_right_shift) X(gcd)

// clang-format on

// Two more words, conj and real, are for complex numbers only: they do not change real ones.

namespace eg::op {

/// Whether this build keeps the sentences of ops. Only tools read them, which are native, and each
/// page would download them with its WebAssembly.
#ifdef __EMSCRIPTEN__
inline constexpr bool kKeepsSentences = false;
#else
inline constexpr bool kKeepsSentences = true;
#endif

/// The name of an op and the sentence that documents it in every table, page and type declaration.
struct Doc {
  std::string_view name;
  std::string_view text;  ///< empty unless kKeepsSentences

  constexpr Doc(std::string_view op_name, std::string_view sentence) : name(op_name) {
    if constexpr (kKeepsSentences) text = sentence;
  }
};

/// How the dtype of the result depends on the operands.
enum class DTypeRule : std::uint8_t {
  kSame,     ///< the promoted dtype; there are kernels for integers
  kFloat,    ///< like kSame, but integers are computed in float32
  kBool,     ///< computed in the promoted dtype, the result is bool
  kFirst,    ///< the dtype of the first operand, to which the others are converted
  kInteger,  ///< like kSame, and there are no kernels for floats
};

/// How an op supports complex numbers. A gradient is the direction of steepest ascent, dL/dRe z + i
/// dL/dIm z, as in PyTorch: for a holomorphic f it is g times the conjugate of f'(z).
enum class ComplexRule : std::uint8_t {
  kNone,         ///< complex numbers are not supported
  kHolomorphic,  ///< the gradient formula is evaluated on the conjugates of its operands
  /// Like kHolomorphic, and real operands beside complex ones are converted: negative real numbers
  /// lie on a branch cut.
  kMultivalued,
  kAsWritten,  ///< the gradient formula is also valid for complex numbers
};

/// What an op requires of integer operands.
enum class IntegerRule : std::uint8_t {
  kNone,
  kDivisor,   ///< the second operand is a divisor: no element may be 0
  kPower,     ///< the second operand is an exponent: a plain number must not be negative
  kModular,   ///< only the bits of the dtype count, so plain numbers wrap around
  kQuotient,  ///< the second and the third operand form a quotient: not both are integers
  kOrder,     ///< the first operand, if it is a plain number, is a whole number from 0
};

/// A number that a formula takes in addition to its operands.
struct Param {
  enum class Kind : std::uint8_t { kNumber, kBool, kChoice };
  /// What a number means when operands are integers.
  enum class Role : std::uint8_t {
    kPlain,
    kFactor,     ///< multiplies an operand, so it must be an integer
    kLimit,      ///< takes part in type promotion, unless it is infinite, and must fit the dtype
    kForFloats,  ///< must have its default value, 0
  };

  std::string_view name;
  /// The default, in JavaScript syntax; passing null in JavaScript means the default.
  std::string_view default_value;
  Kind kind = Kind::kNumber;
  /// The choices, separated by '|'; the formula receives the index.
  std::string_view choices = {};
  Role role = Role::kPlain;
};

/// A number with a role.
constexpr Param param_as(Param::Role role, std::string_view name, std::string_view default_value) {
  return {name, default_value, Param::Kind::kNumber, {}, role};
}

/// The range in which derived tests sample an operand; inside it, the op is smooth.
struct Domain {
  double low = -2;
  double high = 2;
};

/// A set of operands, and whether a value is the incoming gradient itself, unchanged.
struct Probe {
  std::uint32_t reads = 0;
  bool is_gradient = false;

  constexpr Probe() = default;
  constexpr Probe(double) {}
  static constexpr Probe operand(unsigned index) {
    Probe probe;
    probe.reads = 1U << index;
    return probe;
  }
  static constexpr Probe gradient() {
    Probe probe;
    probe.is_gradient = true;
    return probe;
  }
  static constexpr Probe join(Probe a, Probe b) {
    Probe probe;
    probe.reads = a.reads | b.reads;
    return probe;
  }

  friend constexpr Probe operator+(Probe a, Probe b) { return join(a, b); }
  friend constexpr Probe operator-(Probe a, Probe b) { return join(a, b); }
  friend constexpr Probe operator*(Probe a, Probe b) { return join(a, b); }
  friend constexpr Probe operator/(Probe a, Probe b) { return join(a, b); }
  friend constexpr Probe operator-(Probe a) { return join(a, {}); }
  friend constexpr Probe operator==(Probe a, Probe b) { return join(a, b); }
  friend constexpr Probe operator!=(Probe a, Probe b) { return join(a, b); }
  friend constexpr Probe operator<(Probe a, Probe b) { return join(a, b); }
  friend constexpr Probe operator<=(Probe a, Probe b) { return join(a, b); }
  friend constexpr Probe operator>(Probe a, Probe b) { return join(a, b); }
  friend constexpr Probe operator>=(Probe a, Probe b) { return join(a, b); }
  friend constexpr Probe operator&(Probe a, Probe b) { return join(a, b); }
  friend constexpr Probe operator|(Probe a, Probe b) { return join(a, b); }
  friend constexpr Probe operator!(Probe a) { return join(a, {}); }
  friend constexpr Probe conj(Probe a) { return join(a, {}); }
  friend constexpr Probe real(Probe a) { return join(a, {}); }
  friend constexpr Probe where(Probe mask, Probe a, Probe b) { return join(mask, join(a, b)); }
#define EG_WORD(word) \
  friend constexpr Probe word(Probe a) { return join(a, {}); }
  EG_UNARY_WORDS(EG_WORD)
#undef EG_WORD
#define EG_WORD(word) \
  friend constexpr Probe word(Probe a, Probe b) { return join(a, b); }
  EG_BINARY_WORDS(EG_WORD)
#undef EG_WORD
};

}  // namespace eg::op
