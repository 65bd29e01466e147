#pragma once

// Conversions between float32 and float64 vectors, and words that apply a scalar function lane by
// lane.

#include "backend/cpu/vector/vec.h"

namespace eg::cpu {

inline Vec<double> widen_low(Vec<float> x) { return Vec<double>{x[0], x[1]}; }
inline Vec<double> widen_high(Vec<float> x) { return Vec<double>{x[2], x[3]}; }
inline Vec<float> narrow(Vec<double> low, Vec<double> high) {
#if defined(__wasm_simd128__)
  // Emscripten's version of the intrinsics below works lane by lane.
  const auto narrow_half = [](Vec<double> half) {
    return std::bit_cast<__m128>(wasm_f32x4_demote_f64x2_zero(std::bit_cast<v128_t>(half)));
  };
  return _mm_movelh_ps(narrow_half(low), narrow_half(high));
#elif defined(__SSE4_1__)
  return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
#else
  return Vec<float>{static_cast<float>(low[0]), static_cast<float>(low[1]),
                    static_cast<float>(high[0]), static_cast<float>(high[1])};
#endif
}

/// Applies a function of vectors of doubles, two lanes at a time.
template <class Function>
[[gnu::always_inline]] inline Vec<float> by_halves(Vec<float> x, Function function) {
  return narrow(function(widen_low(x)), function(widen_high(x)));
}
template <class Function>
[[gnu::always_inline]] inline Vec<float> by_halves(Vec<float> a, Vec<float> b, Function function) {
  return narrow(function(widen_low(a), widen_low(b)), function(widen_high(a), widen_high(b)));
}

/// Applies a function of doubles to every lane.
template <class V>
inline V each_lane(V x, double (*function)(double)) {
  return map_lanes(x, [function](auto lane) { return function(static_cast<double>(lane)); });
}
template <class V>
inline V each_lane(V a, V b, double (*function)(double, double)) {
  return map_lanes(a, b, [function](auto p, auto q) {
    return function(static_cast<double>(p), static_cast<double>(q));
  });
}

/// Returns `results` where the mask is set, and applies a function of doubles to the other lanes.
/// Not inlined, because this case is rare and slow.
[[gnu::noinline]] inline Vec<float> with_other_lanes(MaskBits<float> regular, Vec<float> results,
                                                     double (*function)(double), Vec<float> x) {
  return regular ? results : each_lane(x, function);
}
[[gnu::noinline]] inline Vec<float> with_other_lanes(MaskBits<float> regular, Vec<float> results,
                                                     double (*function)(double, double),
                                                     Vec<float> a, Vec<float> b) {
  return regular ? results : each_lane(a, b, function);
}

/// The same, skipping the call when there are no other lanes, which is the usual case.
template <class Function, class... Operands>
inline Vec<float> or_each_lane(MaskBits<float> regular, Vec<float> results, Function function,
                               Operands... operands) {
  return all(regular) ? results : with_other_lanes(regular, results, function, operands...);
}

}  // namespace eg::cpu

/// Defines a word of one or two operands as a function of doubles.
#define EG_LANE_WORD(word, function)                                     \
  Vec<float> vec_##word(Vec<float> x) { return each_lane(x, function); } \
  EG_LANE_WORD_IN_DOUBLE(word, function)
#define EG_LANE_BINARY_WORD(word, function)                                               \
  Vec<float> vec_##word(Vec<float> a, Vec<float> b) { return each_lane(a, b, function); } \
  EG_LANE_BINARY_WORD_IN_DOUBLE(word, function)

/// The same for a word with a separate float32 implementation.
#define EG_LANE_WORD_IN_DOUBLE(word, function) \
  Vec<double> vec_##word(Vec<double> x) { return each_lane(x, function); }
#define EG_LANE_BINARY_WORD_IN_DOUBLE(word, function) \
  Vec<double> vec_##word(Vec<double> a, Vec<double> b) { return each_lane(a, b, function); }
