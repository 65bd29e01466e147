#pragma once

// The words of formulas/vocabulary.h on plain vectors: `vec_exp(Vec<float>)` and so on.
//
// Words that compile to a few instructions are inline, in this header. The others are compiled
// once, in pack_math_*.cpp, and called: the kernel of an op is instantiated for every dtype and
// every gradient, and a call costs little compared with an exponential. Kernels of hot ops use the
// inlined words of inline_words.h instead. Words that training spends time in (exp, log, tanh,
// sigmoid, erf, sin ...) are vectorised. Rare ones call the C library lane by lane in double, so a
// float32 result is correctly rounded except for the last bit.
//
// Every word is accurate to 5 units in the last place over the whole range of its type, including
// denormal numbers. NaN propagates, except in fmax and fmin, and in sign, which returns 0. Integer
// vectors have the words that map integers to integers; these wrap around, and division by zero
// yields 0.

#include "backend/cpu/vector/vec.h"
#include "backend/cpu/vector/vec_integer.h"

#ifndef __SSE4_1__
#include <cmath>
#endif

// clang-format off

/// The words that are compiled as function calls.
#define EG_CALLED_UNARY_WORDS(X)                                                                 \
  X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sigmoid)                            \
  X(sin) X(cos) X(tan) X(asin) X(acos) X(atan)                                                   \
  X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh)                                             \
  X(erf) X(erfc) X(erfcx) X(erfinv) X(ndtri) X(lgamma) X(digamma) X(i0e) X(i1e)
#define EG_CALLED_BINARY_WORDS(X)                                                                \
  X(pow) X(atan2) X(hypot) X(fmod) X(remainder) X(floor_divide) X(polygamma) X(zeta)             \
  X(gammainc) X(gammaincc)

// clang-format on

namespace eg::cpu {

#define EG_WORD(word)                \
  Vec<float> vec_##word(Vec<float>); \
  Vec<double> vec_##word(Vec<double>);
EG_CALLED_UNARY_WORDS(EG_WORD)
#undef EG_WORD
#define EG_WORD(word)                            \
  Vec<float> vec_##word(Vec<float>, Vec<float>); \
  Vec<double> vec_##word(Vec<double>, Vec<double>);
EG_CALLED_BINARY_WORDS(EG_WORD)
#undef EG_WORD

#ifdef __SSE4_1__
inline Vec<float> vec_sqrt(Vec<float> x) { return _mm_sqrt_ps(x); }
inline Vec<double> vec_sqrt(Vec<double> x) { return _mm_sqrt_pd(x); }
inline Vec<float> vec_floor(Vec<float> x) { return _mm_floor_ps(x); }
inline Vec<double> vec_floor(Vec<double> x) { return _mm_floor_pd(x); }
inline Vec<float> vec_ceil(Vec<float> x) { return _mm_ceil_ps(x); }
inline Vec<double> vec_ceil(Vec<double> x) { return _mm_ceil_pd(x); }
inline Vec<float> vec_round(Vec<float> x) {
  return _mm_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline Vec<double> vec_round(Vec<double> x) {
  return _mm_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline Vec<float> vec_trunc(Vec<float> x) {
  return _mm_round_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
inline Vec<double> vec_trunc(Vec<double> x) {
  return _mm_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
#else
template <FloatVec V>
inline V vec_sqrt(V x) {
  return map_lanes(x, [](auto lane) { return std::sqrt(lane); });
}
template <FloatVec V>
inline V vec_floor(V x) {
  return map_lanes(x, [](auto lane) { return std::floor(lane); });
}
template <FloatVec V>
inline V vec_ceil(V x) {
  return map_lanes(x, [](auto lane) { return std::ceil(lane); });
}
template <FloatVec V>
inline V vec_round(V x) {
  return map_lanes(x, [](auto lane) { return std::nearbyint(lane); });
}
template <FloatVec V>
inline V vec_trunc(V x) {
  return map_lanes(x, [](auto lane) { return std::trunc(lane); });
}
#endif

template <FloatVec V>
inline V vec_rsqrt(V x) {
  return 1 / vec_sqrt(x);
}

template <FloatVec V>
inline V vec_copysign(V magnitude, V sign) {
  const auto sign_bit = bits_of(-V{});
  return from_bits<Lane<V>>((bits_of(magnitude) & ~sign_bit) | (bits_of(sign) & sign_bit));
}

template <FloatVec V>
inline V vec_abs(V x) {
  return from_bits<Lane<V>>(bits_of(x) & ~bits_of(-V{}));
}

template <FloatVec V>
inline V vec_sign(V x) {
  const V one = V{} + 1;
  return (x > 0 ? one : V{}) - (x < 0 ? one : V{});
}

/// For real numbers, sgn is the same as sign.
template <class V>
inline V vec_sgn(V x) {
  return vec_sign(x);
}

template <FloatVec V>
inline V vec_maximum(V a, V b) {
  return ((a > b) | (a != a)) ? a : b;
}
template <FloatVec V>
inline V vec_minimum(V a, V b) {
  return ((a < b) | (a != a)) ? a : b;
}
template <FloatVec V>
inline V vec_fmax(V a, V b) {
  return ((a >= b) | (b != b)) ? a : b;
}
template <FloatVec V>
inline V vec_fmin(V a, V b) {
  return ((a <= b) | (b != b)) ? a : b;
}

}  // namespace eg::cpu
