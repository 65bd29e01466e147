#pragma once

// Pack<std::complex<double>>: complex numbers with the operations of formulas/vocabulary.h.
//
// A pack of 16 bytes holds one number, so this is plain scalar arithmetic in the form that kernels
// expect. complex64 has no separate kernels: it is computed in complex128, which is slower but
// keeps intermediate results from overflowing. Only words that are defined for complex numbers
// exist here; an op that uses another one does not compile as a complex op.

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

/// A real result of a complex operand, such as that of abs.
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
  // The textbook product, as in PyTorch: the C library's version checks every product for
  // infinities.
  friend Pack operator*(Pack a, Pack b) {
    const auto [x, y] = parts(a);
    const auto [u, w] = parts(b);
    return Complex(x * u - y * w, x * w + y * u);
  }
  // Divides by the larger part first, so that squares cannot overflow.
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
    // Near -1 the sum would lose the digits that 1 + x preserves.
    if (std::abs(re) > 0.5 || std::abs(im) > 0.5) return std::log(Complex(1 + re, im));
    return Complex(std::log1p(re * (2 + re) + im * im) / 2, std::atan2(im, 1 + re));
  }
  // Uses the exponential that does not overflow.
  friend Pack sigmoid(Pack x) {
    if (x.v.real() >= 0) return 1 / (1 + exp(-x));
    const Pack e = exp(x);
    return e / (1 + e);
  }
  // Small integer powers are computed as products: exact if their factors are, and 0 at 0.
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
  friend Pack sinh(Pack x) { return std::sinh(x.v); }
  friend Pack cosh(Pack x) { return std::cosh(x.v); }
  friend Pack tanh(Pack x) { return std::tanh(x.v); }

  // Kahan's inverse functions, based on the square roots of 1 - x and 1 + x, which lose no accuracy
  // near a branch point and preserve the signs of zeros along a branch cut. (The library's versions
  // are logarithms of sums, which lose all digits of small numbers and of large negative ones.)
  friend Pack asin(Pack x) {
    const auto [re, im] = parts(x);
    if (is_far(x)) return Complex(std::atan2(re, std::abs(im)), std::copysign(log_of_twice(x), im));
    const auto [below, above] = roots_around_one(x);
    return Complex(std::atan2(re, below.real() * above.real() - below.imag() * above.imag()),
                   std::asinh(cross(below, above)));
  }
  friend Pack acos(Pack x) {
    const auto [re, im] = parts(x);
    if (is_far(x))
      return Complex(std::atan2(std::abs(im), re), std::copysign(log_of_twice(x), -im));
    const auto [below, above] = roots_around_one(x);
    return Complex(2 * std::atan2(below.real(), above.real()), std::asinh(cross(above, below)));
  }
  friend Pack acosh(Pack x) {
    const auto [re, im] = parts(acos(x));
    return Complex(std::abs(im), std::copysign(re, parts(x).im));
  }
  friend Pack atanh(Pack x) {
    const auto [re, im] = parts(x);
    if (is_far(x)) {
      const double angle = std::copysign(std::numbers::pi / 2, im);
      return std::isinf(re) || std::isinf(im) ? Complex(std::copysign(0, re), angle)
                                              : Complex(0, angle) + (1 / x).v;
    }
    const double distance = std::hypot(1 - std::abs(re), im);
    const double stretch = distance < 1e-9
                               ? std::log(2 / distance) / 2
                               : std::log1p(4 * std::abs(re) / (distance * distance)) / 4;
    return Complex(std::copysign(stretch, re),
                   std::atan2(2 * im, (1 - re) * (1 + re) - im * im) / 2);
  }
  friend Pack asinh(Pack x) { return times_minus_i(asin(times_i(x))); }
  friend Pack atan(Pack x) { return times_minus_i(atanh(times_i(x))); }

 private:
  static Pack times_i(Pack x) { return Complex(-x.v.imag(), x.v.real()); }
  static Pack times_minus_i(Pack x) { return Complex(x.v.imag(), -x.v.real()); }

  // True for numbers whose square may overflow.
  static bool is_far(Pack x) {
    return std::abs(x.v.real()) > 1e100 || std::abs(x.v.imag()) > 1e100;
  }
  static double log_of_twice(Pack x) { return std::log(std::abs(x.v)) + std::numbers::ln2; }

  struct Roots {
    Complex below;
    Complex above;
  };
  static Roots roots_around_one(Pack x) {
    const auto [re, im] = parts(x);
    return {std::sqrt(Complex(1 - re, -im)), std::sqrt(Complex(1 + re, im))};
  }

  // Returns the imaginary part of conj(a) b.
  static double cross(Complex a, Complex b) { return a.real() * b.imag() - a.imag() * b.real(); }

  struct Parts {
    double re;
    double im;
  };
  static Parts parts(Pack x) { return {x.v.real(), x.v.imag()}; }
};

}  // namespace eg::cpu
