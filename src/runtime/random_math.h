#pragma once

// Converts uniform words to normal numbers, bit for bit the same on every machine.
//
// PyTorch fills 16 float32 normals at a time with AVX2 code in which the compiler fused
// multiplications and additions. WebAssembly has no fused operation that rounds the same on every
// machine, so box_muller_16 emulates it with float64 arithmetic. For float64, PyTorch calls the C
// library; C libraries differ in the last bit, so log and sincos are implemented here.

#include <cstdint>
#include <span>

namespace eg {

/// The sine and cosine of one angle.
struct SinCos {
  double sin;
  double cos;
};

/// Natural logarithm of a number in [2^-53, 1]; error below 1 ulp.
double unit_log(double x);

/// Sine and cosine of an angle in [0, 2 pi]; error below 1 ulp.
SinCos unit_sincos(double angle);

/// Returns a * b + c rounded once to float32, as a fused multiply-add does.
float fused_multiply_add(float a, float b, float c);

/// Computes 16 normals from 16 words, bit for bit as PyTorch's AVX2 kernel, except that about one
/// in 10^8 differs in the last bit.
void box_muller_16(std::span<const std::uint32_t, 16> words, std::span<float, 16> out, float mean,
                   float std);

}  // namespace eg
