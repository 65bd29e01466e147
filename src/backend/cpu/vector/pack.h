#pragma once

// Pack<T>: a 128-bit register of T with the operations of formulas/vocabulary.h.
//
// Formulas are evaluated on packs, 16 bytes at a time, on every target: SSE natively, SIMD128 in
// wasm. Arithmetic uses the compiler's vector extension; the words are in pack_math.h. Formulas
// have no separate scalar version: tails are padded to a full pack (elementwise/elementwise.cpp),
// so the value of an element never depends on its position.

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "backend/cpu/vector/inline_words.h"
#include "formulas/vocabulary.h"

namespace eg::cpu {

/// With kInline, words are inlined into the kernel instead of called. This is for the float32
/// kernels of hot ops (formulas/elementwise.h).
template <class T, bool kInline = false>
struct Pack;

/// The result of a comparison, lane by lane.
template <class T, bool kInline = false>
struct Mask {
  // An integer vector of the same lane width: -1 for true, 0 for false.
  using Bits = decltype(Vec<T>{} < Vec<T>{});
  Bits bits;

  friend Mask operator&(Mask a, Mask b) { return {a.bits & b.bits}; }
  friend Mask operator|(Mask a, Mask b) { return {a.bits | b.bits}; }
  friend Mask operator!(Mask a) { return {~a.bits}; }
  friend Pack<T, kInline> where(Mask mask, Pack<T, kInline> a, Pack<T, kInline> b) {
    return {mask.bits ? a.v : b.v};
  }

  /// Writes one bool per lane.
  void store(bool* out) const {
    const auto bytes = std::bit_cast<Vec<std::uint8_t>>(bits & 1);
    if constexpr (sizeof(T) == 1) {
      std::memcpy(out, &bytes, sizeof(bytes));
    } else {
      // Collects the lowest byte of every lane.
      const auto packed = sizeof(T) == 4 ? __builtin_shufflevector(bytes, bytes, 0, 4, 8, 12, 0, 4,
                                                                   8, 12, 0, 4, 8, 12, 0, 4, 8, 12)
                                         : __builtin_shufflevector(bytes, bytes, 0, 8, 0, 8, 0, 8,
                                                                   0, 8, 0, 8, 0, 8, 0, 8, 0, 8);
      std::memcpy(out, &packed, kLanes<T>);
    }
  }
};

template <class T, bool kInline>
struct Pack {
  Vec<T> v;

  Pack() = default;
  Pack(Vec<T> value) : v(value) {}
  /// Broadcasts a number to all lanes.
  Pack(double value) : v(splat(lane_from<T>(value))) {}

  static Pack load(const void* from) {
    Pack pack;
    std::memcpy(&pack.v, from, sizeof(pack.v));
    return pack;
  }
  void store(void* to) const { std::memcpy(to, &v, sizeof(v)); }

  friend Pack operator+(Pack a, Pack b) { return {vec_add(a.v, b.v)}; }
  friend Pack operator-(Pack a, Pack b) { return {vec_sub(a.v, b.v)}; }
  friend Pack operator*(Pack a, Pack b) { return {vec_mul(a.v, b.v)}; }
  friend Pack operator/(Pack a, Pack b) { return {vec_div(a.v, b.v)}; }
  friend Pack operator-(Pack a) { return {vec_neg(a.v)}; }

  friend Mask<T, kInline> operator==(Pack a, Pack b) { return {a.v == b.v}; }
  friend Mask<T, kInline> operator!=(Pack a, Pack b) { return {a.v != b.v}; }
  friend Mask<T, kInline> operator<(Pack a, Pack b) { return {a.v < b.v}; }
  friend Mask<T, kInline> operator<=(Pack a, Pack b) { return {a.v <= b.v}; }
  friend Mask<T, kInline> operator>(Pack a, Pack b) { return {a.v > b.v}; }
  friend Mask<T, kInline> operator>=(Pack a, Pack b) { return {a.v >= b.v}; }

  friend Pack conj(Pack x) { return x; }
  friend Pack real(Pack x) { return x; }
#define EG_WORD(word)                               \
  [[gnu::always_inline]] friend Pack word(Pack x) { \
    if constexpr (kInline)                          \
      return {inlined::vec_##word(x.v)};            \
    else                                            \
      return {vec_##word(x.v)};                     \
  }
  EG_UNARY_WORDS(EG_WORD)
#undef EG_WORD
#define EG_WORD(word) \
  friend Pack word(Pack a, Pack b) { return {vec_##word(a.v, b.v)}; }
  EG_BINARY_WORDS(EG_WORD)
#undef EG_WORD
};

}  // namespace eg::cpu
