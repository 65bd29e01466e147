#pragma once

// Plain 16-byte vectors: the compiler's vector extension, and operations that it lacks.
//
// A Vec is the contents of a register. Mathematical functions are in pack_math.h, and operators
// beyond the compiler's in pack.h. Everything here is inline and branch-free.

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#ifdef __SSE4_1__
#include <smmintrin.h>
#endif
#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#endif

namespace eg::cpu {

/// 16 bytes of T.
template <class T>
using Vec __attribute__((vector_size(16))) = T;

template <class T>
inline constexpr int kLanes = 16 / static_cast<int>(sizeof(T));

/// The element type of a vector.
template <class V>
using Lane = std::remove_cvref_t<decltype(std::declval<V&>()[0])>;

template <class V>
concept IntegerVec = std::is_integral_v<Lane<V>>;
template <class V>
concept FloatVec = std::is_floating_point_v<Lane<V>>;

namespace detail {

template <std::size_t kBytes>
struct IntegersOfSize;
template <>
struct IntegersOfSize<1> {
  using Signed = std::int8_t;
  using Unsigned = std::uint8_t;
};
template <>
struct IntegersOfSize<4> {
  using Signed = std::int32_t;
  using Unsigned = std::uint32_t;
};
template <>
struct IntegersOfSize<8> {
  using Signed = std::int64_t;
  using Unsigned = std::uint64_t;
};

}  // namespace detail

/// The signed integer type as wide as T.
template <class T>
using SignedBits = typename detail::IntegersOfSize<sizeof(T)>::Signed;
template <class T>
using UnsignedBits = typename detail::IntegersOfSize<sizeof(T)>::Unsigned;

/// The result of comparing vectors of T: all bits of a lane are set for true.
template <class T>
using MaskBits = decltype(Vec<T>{} < Vec<T>{});

/// Broadcasts a value to all lanes.
template <class T>
inline Vec<T> splat(T value) {
  // Not an addition, because 0 + -0 is 0.
  return value - Vec<T>{};
}

/// True when every lane of a comparison is true.
template <class Mask>
inline bool all(Mask mask) {
#ifdef __SSE4_1__
  return _mm_movemask_epi8(std::bit_cast<__m128i>(mask)) == 0xffff;
#else
  const auto words = std::bit_cast<Vec<std::uint64_t>>(mask);
  return (words[0] & words[1]) == ~std::uint64_t{0};
#endif
}

/// Converts lanes to their bit patterns, and back.
template <FloatVec V>
inline Vec<UnsignedBits<Lane<V>>> bits_of(V x) {
  return std::bit_cast<Vec<UnsignedBits<Lane<V>>>>(x);
}
template <class T>
inline Vec<T> from_bits(Vec<UnsignedBits<T>> bits) {
  return std::bit_cast<Vec<T>>(bits);
}

/// Applies a scalar function to every lane.
template <class V, class Function>
inline V map_lanes(V x, Function function) {
  V result;
  for (int i = 0; i < kLanes<Lane<V>>; ++i) result[i] = static_cast<Lane<V>>(function(x[i]));
  return result;
}
template <class V, class Function>
inline V map_lanes(V a, V b, Function function) {
  V result;
  for (int i = 0; i < kLanes<Lane<V>>; ++i) result[i] = static_cast<Lane<V>>(function(a[i], b[i]));
  return result;
}

/// Converts a number to T. Numbers out of range become the nearest T; NaN becomes 0 for integers;
/// infinity stays infinite for floats.
template <class T>
constexpr T lane_from(double value) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else if constexpr (std::is_floating_point_v<T>) {
    // Only selections, so that the compiler can hoist it out of kernel loops.
    const double largest = static_cast<double>(Limits::max());
    const double limited = value > largest ? largest : value < -largest ? -largest : value;
    return static_cast<T>(value - value == 0 ? limited : value);
  } else {
    if (value != value) return 0;
    // 2^63 - 1 is not representable as a double, so the upper limit itself is out of range.
    if (value >= static_cast<double>(Limits::max())) return Limits::max();
    if (value <= static_cast<double>(Limits::min())) return Limits::min();
    return static_cast<T>(value);
  }
}

/// Sums, differences and products. Integers wrap around, whereas overflow is undefined for the
/// compiler's operators.
template <class V>
inline V vec_add(V a, V b) {
  if constexpr (IntegerVec<V>) {
    using Wrap = Vec<UnsignedBits<Lane<V>>>;
    return std::bit_cast<V>(std::bit_cast<Wrap>(a) + std::bit_cast<Wrap>(b));
  } else {
    return a + b;
  }
}
template <class V>
inline V vec_sub(V a, V b) {
  if constexpr (IntegerVec<V>) {
    using Wrap = Vec<UnsignedBits<Lane<V>>>;
    return std::bit_cast<V>(std::bit_cast<Wrap>(a) - std::bit_cast<Wrap>(b));
  } else {
    return a - b;
  }
}
template <class V>
inline V vec_mul(V a, V b) {
  if constexpr (IntegerVec<V>) {
    using Wrap = Vec<UnsignedBits<Lane<V>>>;
    return std::bit_cast<V>(std::bit_cast<Wrap>(a) * std::bit_cast<Wrap>(b));
  } else {
    return a * b;
  }
}
/// a * b + c, rounded once if the build has a fused instruction.
inline Vec<float> multiply_add(Vec<float> a, Vec<float> b, Vec<float> c) {
#ifdef __wasm_relaxed_simd__
  return std::bit_cast<Vec<float>>(wasm_f32x4_relaxed_madd(
      std::bit_cast<v128_t>(a), std::bit_cast<v128_t>(b), std::bit_cast<v128_t>(c)));
#else
  return a * b + c;
#endif
}
inline Vec<double> multiply_add(Vec<double> a, Vec<double> b, Vec<double> c) {
#ifdef __wasm_relaxed_simd__
  return std::bit_cast<Vec<double>>(wasm_f64x2_relaxed_madd(
      std::bit_cast<v128_t>(a), std::bit_cast<v128_t>(b), std::bit_cast<v128_t>(c)));
#else
  return a * b + c;
#endif
}

template <class V>
inline V vec_neg(V x) {
  if constexpr (IntegerVec<V>)
    return vec_sub(V{}, x);
  else
    return -x;
}

}  // namespace eg::cpu
