#pragma once

// Pack<std::complex<double>>: complex numbers in the vocabulary of formulas/vocabulary.h.
//
// A pack of 16 bytes holds one number, so this is plain scalar arithmetic in the form that kernels
// expect. complex64 has no kernels of its own: it is computed in complex128, which costs speed
// where nobody trains and keeps every intermediate from overflowing. Only words that have a meaning
// for complex numbers exist; an op that uses another one does not compile as a complex op.

#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>

#include "backend/cpu/vector/pack.h"

namespace eg::cpu {

using Complex = std::complex<double>;

template <>
struct Mask<Complex> {
  bool bits;

  friend Mask operator&(Mask a, Mask b) { return {a.bits && b.bits}; }
  friend Mask operator|(Mask a, Mask b) { return {a.bits || b.bits}; }
  friend Mask operator!(Mask a) { return {!a.bits}; }

  void store(bool* out) const { *out = bits; }
};

/// A real result of a complex operand: what abs gives.
struct RealPart {
  double v;

  friend Mask<Complex> operator<(RealPart a, double b) { return {a.v < b}; }

  void store(void* to) const { std::memcpy(to, &v, sizeof(v)); }
};

template <>
struct Pack<Complex> {
  Complex v;

  Pack() = default;
  Pack(Complex value) : v(value) {}
  Pack(double value) : v(value) {}

  static Pack load(const void* from) {
    Pack pack;
    std::memcpy(&pack.v, from, sizeof(pack.v));
    return pack;
  }
  void store(void* to) const { std::memcpy(to, &v, sizeof(v)); }

  friend Pack operator+(Pack a, Pack b) { return a.v + b.v; }
  friend Pack operator-(Pack a, Pack b) { return a.v - b.v; }
  friend Pack operator-(Pack a) { return -a.v; }
  // The textbook's product, as in PyTorch: the C library's looks for infinities in every one.
  friend Pack operator*(Pack a, Pack b) {
    const auto [x, y] = parts(a);
    const auto [u, w] = parts(b);
    return Complex(x * u - y * w, x * w + y * u);
  }
  // Divided by the larger part first, so that squares cannot overflow.
  friend Pack operator/(Pack a, Pack b) {
    const auto [x, y] = parts(a);
    const auto [u, w] = parts(b);
    if (std::abs(u) >= std::abs(w)) {
      if (u == 0 && w == 0) return Complex(x / std::abs(u), y / std::abs(w));
      const double ratio = w / u;
      const double scale = 1 / (u + w * ratio);
      return Complex((x + y * ratio) * scale, (y - x * ratio) * scale);
    }
    const double ratio = u / w;
    const double scale = 1 / (u * ratio + w);
    return Complex((x * ratio + y) * scale, (y * ratio - x) * scale);
  }

  friend Mask<Complex> operator==(Pack a, Pack b) { return {a.v == b.v}; }
  friend Mask<Complex> operator!=(Pack a, Pack b) { return {a.v != b.v}; }
  friend Pack where(Mask<Complex> mask, Pack a, Pack b) { return mask.bits ? a : b; }

  friend Pack conj(Pack x) { return std::conj(x.v); }
  friend RealPart abs(Pack x) { return {std::abs(x.v)}; }
  friend Pack sgn(Pack x) { return x.v == 0.0 ? Complex(0) : x.v / std::abs(x.v); }

  friend Pack sqrt(Pack x) { return std::sqrt(x.v); }
  friend Pack rsqrt(Pack x) { return 1 / sqrt(x); }
  friend Pack exp(Pack x) { return std::exp(x.v); }
  friend Pack exp2(Pack x) { return exp(x * std::numbers::ln2); }
  friend Pack expm1(Pack x) {
    const auto [re, im] = parts(x);
    const double half_sine = std::sin(im / 2);
    return Complex(std::expm1(re) * std::cos(im) - 2 * half_sine * half_sine,
                   std::exp(re) * std::sin(im));
  }
  friend Pack log(Pack x) { return std::log(x.v); }
  friend Pack log2(Pack x) { return std::log(x.v) / std::numbers::ln2; }
  friend Pack log10(Pack x) { return std::log(x.v) / std::numbers::ln10; }
  friend Pack log1p(Pack x) {
    const auto [re, im] = parts(x);
    return Complex(std::log1p(re * (2 + re) + im * im) / 2, std::atan2(im, 1 + re));
  }
  // exp of the side that does not overflow.
  friend Pack sigmoid(Pack x) {
    if (x.v.real() >= 0) return 1 / (1 + exp(-x));
    const Pack e = exp(x);
    return e / (1 + e);
  }
  // Whole powers of up to a few factors are products: exact where their factors are, and 0 at 0.
  friend Pack pow(Pack a, Pack b) {
    const auto [n, imaginary] = parts(b);
    if (imaginary == 0 && std::abs(n) <= 8 && n == std::trunc(n)) {
      Pack product = 1;
      for (int i = 0; i < static_cast<int>(std::abs(n)); ++i) product = product * a;
      return n < 0 ? 1 / product : product;
    }
    if (a.v == 0.0) return n > 0 ? Pack(0) : exp(b * log(a));
    return exp(b * log(a));
  }
  friend Pack sin(Pack x) { return std::sin(x.v); }
  friend Pack cos(Pack x) { return std::cos(x.v); }
  friend Pack tan(Pack x) { return std::tan(x.v); }
  friend Pack asin(Pack x) { return std::asin(x.v); }
  friend Pack acos(Pack x) { return std::acos(x.v); }
  friend Pack atan(Pack x) { return std::atan(x.v); }
  friend Pack sinh(Pack x) { return std::sinh(x.v); }
  friend Pack cosh(Pack x) { return std::cosh(x.v); }
  friend Pack tanh(Pack x) { return std::tanh(x.v); }
  friend Pack asinh(Pack x) { return std::asinh(x.v); }
  friend Pack acosh(Pack x) { return std::acosh(x.v); }
  friend Pack atanh(Pack x) { return std::atanh(x.v); }

 private:
  struct Parts {
    double re;
    double im;
  };
  static Parts parts(Pack x) { return {x.v.real(), x.v.imag()}; }
};

}  // namespace eg::cpu
