#pragma once

// From uniform words to normal numbers, with the same bits on every machine.
//
// PyTorch fills 16 float32 normals at a time with AVX2 code in which the compiler fused
// multiplications and additions. WebAssembly has no fused operation that rounds the same
// everywhere, so box_muller_16 makes one of float64 arithmetic. For float64, PyTorch calls the C
// library; C libraries differ in the last bit, so log and sincos are written out here.

#include <cstdint>
#include <span>

namespace eg {

/// Both legs of a unit vector.
struct SinCos {
  double sin;
  double cos;
};

/// Natural logarithm of a number in [2^-53, 1]; error below 1 ulp.
double unit_log(double x);

/// Sine and cosine of an angle in [0, 2 pi]; error below 1 ulp.
SinCos unit_sincos(double angle);

/// a * b + c rounded once to float32, as a fused multiply-add does.
float fused_multiply_add(float a, float b, float c);

/// Makes 16 normals of 16 words, bit for bit as PyTorch's AVX2 kernel does but for about one in
/// 10^8, whose last bit differs.
void box_muller_16(std::span<const std::uint32_t, 16> words, std::span<float, 16> out, float mean,
                   float std);

}  // namespace eg
