#pragma once

// The discrete Fourier transform of one size, of several rows at once.
//
// A size with small prime factors is transformed factor by factor (Stockham's ordering, which needs
// no bit reversal). A size with a large prime factor becomes a convolution of a power-of-two size
// (Bluestein). Everything is computed in double, whatever the dtype of the rows. Each vector lane
// holds a different row, so no lane is ever shuffled and rows do not affect each other.

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/cpu/vector/vec.h"

namespace eg::cpu::fft {

using Complex = std::complex<double>;

/// One complex number from each of the rows that are transformed together.
struct Number {
  Vec<double> re;
  Vec<double> im;

  friend Number operator+(Number a, Number b) { return {a.re + b.re, a.im + b.im}; }
  friend Number operator-(Number a, Number b) { return {a.re - b.re, a.im - b.im}; }
  friend Number operator*(Number a, Complex b) {
    return {a.re * b.real() - a.im * b.imag(), a.re * b.imag() + a.im * b.real()};
  }
  friend Number operator*(Number a, double b) { return {a.re * b, a.im * b}; }
  friend Number conj(Number a) { return {a.re, -a.im}; }
  /// Returns a * -i.
  friend Number times_minus_i(Number a) { return {a.im, -a.re}; }
};

using Numbers = std::vector<Number>;
using Roots = std::vector<Complex>;

/// Returns the first `count` n-th roots of unity, exp(-2 pi i k / n).
Roots roots_of(std::int64_t n, std::int64_t count);

/// A forward transform of one size. Threads may share it.
class Transform {
 public:
  virtual ~Transform() = default;
  /// Transforms `x` in place; `scratch` is resized as needed.
  virtual void run(Number* x, Numbers& scratch) const = 0;

  static std::unique_ptr<Transform> of(std::int64_t n);
};

}  // namespace eg::cpu::fft
