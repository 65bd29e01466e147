#pragma once

// Inlined versions of the hot words: constants stay in registers from one pack to the next, and
// words with common subexpressions share them. They are the same functions that pack_math_*.cpp
// compiles for calls, with the same results.

#include "backend/cpu/vector/pack_math.h"
#include "backend/cpu/vector/vec_kernels.h"

namespace eg::cpu::inlined {

// All other words are the ones called everywhere else.
using namespace eg::cpu;

[[gnu::always_inline]] inline Vec<float> vec_exp(Vec<float> x) { return detail::exp_of<float>(x); }
[[gnu::always_inline]] inline Vec<float> vec_log(Vec<float> x) { return detail::log_of<float>(x); }
[[gnu::always_inline]] inline Vec<float> vec_sigmoid(Vec<float> x) {
  return detail::sigmoid_of<float>(x);
}
[[gnu::always_inline]] inline Vec<float> vec_tanh(Vec<float> x) {
  return detail::tanh_of<float>(x);
}
[[gnu::always_inline]] inline Vec<float> vec_erf(Vec<float> x) { return detail::erf_of(x); }
[[gnu::always_inline]] inline Vec<float> vec_erfc(Vec<float> x) { return detail::erfc_of(x); }

}  // namespace eg::cpu::inlined
