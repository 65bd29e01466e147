#pragma once

// The 128-bit vectors of the GEMM kernels: compiler vectors, so that one source serves WebAssembly
// and native builds. Loads and stores need no alignment beyond that of the element.

#include <cstdint>
#include <cstring>

#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#endif

#include "backend/cpu/vector/vec.h"

// The kernels are loops over register arrays, which must be inlined and fully unrolled.
#define EG_GEMM_INLINE __attribute__((always_inline)) inline
#define EG_GEMM_UNROLL _Pragma("GCC unroll 16")

namespace eg::gemm {

template <class T>
struct VectorOf;

template <>
struct VectorOf<float> {
  using type [[gnu::vector_size(16)]] = float;
  using unaligned [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;
};

template <>
struct VectorOf<double> {
  using type [[gnu::vector_size(16)]] = double;
  using unaligned [[gnu::vector_size(16), gnu::aligned(8), gnu::may_alias]] = double;
};

template <class T>
using Vector = typename VectorOf<T>::type;

using cpu::kLanes;
using cpu::multiply_add;

template <class T>
EG_GEMM_INLINE Vector<T> load(const T* from) {
  return *reinterpret_cast<const typename VectorOf<T>::unaligned*>(from);
}

template <class T>
EG_GEMM_INLINE void store(T* to, Vector<T> value) {
  *reinterpret_cast<typename VectorOf<T>::unaligned*>(to) = value;
}

/// Broadcasts *from to all lanes.
EG_GEMM_INLINE Vector<float> load_splat(const float* from) {
#ifdef __wasm_simd128__
  // An explicit intrinsic, because a splat of a loaded scalar may become two instructions.
  return reinterpret_cast<Vector<float>>(wasm_v128_load32_splat(from));
#else
  return Vector<float>{*from, *from, *from, *from};
#endif
}

EG_GEMM_INLINE Vector<double> load_splat(const double* from) {
#ifdef __wasm_simd128__
  return reinterpret_cast<Vector<double>>(wasm_v128_load64_splat(from));
#else
  return Vector<double>{*from, *from};
#endif
}

EG_GEMM_INLINE Vector<float> splat(float value) {
  return Vector<float>{value, value, value, value};
}

EG_GEMM_INLINE Vector<double> splat(double value) { return Vector<double>{value, value}; }

/// Stores pairs (a[i], b[i]), `stride` elements apart.
EG_GEMM_INLINE void store_pairs(float* to, int stride, Vector<float> a, Vector<float> b) {
  const Vector<float> low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Vector<float> high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const auto store_pair = [](float* pair, Vector<float> from, int half) {
    std::memcpy(pair, reinterpret_cast<const char*>(&from) + half * 8, 8);
  };
  store_pair(to, low, 0);
  store_pair(to + stride, low, 1);
  store_pair(to + 2 * stride, high, 0);
  store_pair(to + 3 * stride, high, 1);
}

/// Transposes the square matrix whose rows are the vectors.
EG_GEMM_INLINE void transpose(Vector<float> (&rows)[4]) {
  const Vector<float> low01 = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  const Vector<float> high01 = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  const Vector<float> low23 = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  const Vector<float> high23 = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  rows[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
  rows[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
  rows[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
  rows[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

EG_GEMM_INLINE void transpose(Vector<double> (&rows)[2]) {
  const Vector<double> low = __builtin_shufflevector(rows[0], rows[1], 0, 2);
  rows[1] = __builtin_shufflevector(rows[0], rows[1], 1, 3);
  rows[0] = low;
}

}  // namespace eg::gemm
