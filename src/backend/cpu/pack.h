#pragma once

// Pack<T>: a 128-bit register full of T, in the vocabulary of ops/vocabulary.h.
//
// Formulas are evaluated on packs, 16 bytes at a time, on every target: SSE natively, SIMD128 in
// wasm. Arithmetic is the compiler's vector extension; exp, log, sin and their kin are Eigen's packet
// functions for float, and the C library lane by lane where Eigen has none. There is no scalar
// second version of a formula: tails are padded to a full pack (see elementwise.cpp), so an element's
// value never depends on where it lies.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "backend/cpu/pack_math.h"
#include "ops/vocabulary.h"

namespace eg::cpu {

template <class T>
struct Pack;

/// A parameter as a T: numbers beyond its range become its largest or smallest, so that the bounds
/// of clamp() or nan_to_num() mean the same for every dtype.
template <class T>
T saturated(double value) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(value)) return Limits::has_quiet_NaN ? Limits::quiet_NaN() : T{};
  if (Limits::has_infinity && std::isinf(value)) return static_cast<T>(value);
  if (value >= static_cast<double>(Limits::max())) return Limits::max();
  if (value <= static_cast<double>(Limits::lowest())) return Limits::lowest();
  return static_cast<T>(value);
}

/// The outcome of a comparison, lane by lane.
template <class T>
struct Mask {
  // An integer vector of the same lane width: -1 for true, 0 for false.
  using Bits = decltype(Vec<T>{} < Vec<T>{});
  Bits bits;

  friend Mask operator&(Mask a, Mask b) { return {a.bits & b.bits}; }
  friend Mask operator|(Mask a, Mask b) { return {a.bits | b.bits}; }
  friend Mask operator!(Mask a) { return {~a.bits}; }
  friend Pack<T> where(Mask mask, Pack<T> a, Pack<T> b) { return {mask.bits ? a.v : b.v}; }

  /// Writes one bool per lane.
  void store(bool* out) const {
    for (int i = 0; i < kLanes<T>; ++i) out[i] = bits[i] != 0;
  }
};

template <class T>
struct Pack {
  Vec<T> v;

  Pack() = default;
  Pack(Vec<T> value) : v(value) {}
  /// Every lane the same number.
  Pack(double value) : v(splat(saturated<T>(value))) {}

  static Pack load(const void* from) {
    Pack pack;
    std::memcpy(&pack.v, from, sizeof(pack.v));
    return pack;
  }
  void store(void* to) const { std::memcpy(to, &v, sizeof(v)); }

  friend Pack operator+(Pack a, Pack b) { return {a.v + b.v}; }
  friend Pack operator-(Pack a, Pack b) { return {a.v - b.v}; }
  friend Pack operator*(Pack a, Pack b) { return {a.v * b.v}; }
  friend Pack operator/(Pack a, Pack b) { return {a.v / b.v}; }
  friend Pack operator-(Pack a) { return {-a.v}; }

  friend Mask<T> operator==(Pack a, Pack b) { return {a.v == b.v}; }
  friend Mask<T> operator!=(Pack a, Pack b) { return {a.v != b.v}; }
  friend Mask<T> operator<(Pack a, Pack b) { return {a.v < b.v}; }
  friend Mask<T> operator<=(Pack a, Pack b) { return {a.v <= b.v}; }
  friend Mask<T> operator>(Pack a, Pack b) { return {a.v > b.v}; }
  friend Mask<T> operator>=(Pack a, Pack b) { return {a.v >= b.v}; }

#define EG_WORD(word) \
  friend Pack word(Pack x) { return {vec_##word(x.v)}; }
  EG_UNARY_WORDS(EG_WORD)
#undef EG_WORD
#define EG_WORD(word) \
  friend Pack word(Pack a, Pack b) { return {vec_##word(a.v, b.v)}; }
  EG_BINARY_WORDS(EG_WORD)
#undef EG_WORD
};

}  // namespace eg::cpu
