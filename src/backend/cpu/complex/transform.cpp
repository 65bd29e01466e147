#include "backend/cpu/complex/transform.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

namespace eg::cpu::fft {
namespace {

// A prime factor p costs p operations per element; beyond this limit a convolution is cheaper.
constexpr std::int64_t kLargestFactor = 31;

// Returns exp(-2 pi i k / n). The index is reduced first, which keeps the angle exact; quarter
// turns are exact as well.
Complex root(std::int64_t k, std::int64_t n) {
  k %= n;
  if (4 * k % n == 0) {
    constexpr std::array<Complex, 4> kQuarters{Complex(1, 0), {0, -1}, {-1, 0}, {0, 1}};
    return kQuarters[static_cast<std::size_t>(4 * k / n)];
  }
  const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

}  // namespace

// Roots past an eighth of the circle are mirrored from earlier ones.
Roots roots_of(std::int64_t n, std::int64_t count) {
  Roots roots(static_cast<std::size_t>(count));
  const auto at = [&](std::int64_t k) -> Complex& { return roots[static_cast<std::size_t>(k)]; };
  for (std::int64_t k = 0; k < count; ++k) {
    if (n % 4 == 0 && 4 * k >= n) {
      const Complex before = at(k - n / 4);
      at(k) = {before.imag(), -before.real()};
    } else if (n % 4 == 0 && 8 * k > n) {
      const Complex mirrored = at(n / 4 - k);
      at(k) = {-mirrored.imag(), -mirrored.real()};
    } else {
      at(k) = root(k, n);
    }
  }
  return roots;
}
namespace {

// Returns the factors to transform by, fours first. The last one may be a prime above
// kLargestFactor.
std::vector<std::int64_t> factors_of(std::int64_t n) {
  std::vector<std::int64_t> factors;
  const auto take = [&](std::int64_t p) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  };
  take(4);
  take(2);
  for (std::int64_t p = 3; p <= kLargestFactor; p += 2) take(p);
  if (n > 1) factors.push_back(n);
  return factors;
}
class FactorTransform final : public Transform {
 public:
  FactorTransform(std::int64_t n, std::vector<std::int64_t> factors)
      : n_(n), factors_(std::move(factors)), roots_(roots_of(n, n)) {}

  void run(Number* x, Numbers& scratch) const override {
    scratch.resize(std::max(scratch.size(), static_cast<std::size_t>(n_)));
    Number* from = x;
    Number* to = scratch.data();
    std::int64_t left = n_;
    std::int64_t done = 1;
    for (const std::int64_t p : factors_) {
      pass(p, left, done, from, to);
      std::swap(from, to);
      left /= p;
      done *= p;
    }
    if (from != x) std::copy_n(from, n_, x);
  }

 private:
  // Splits the `done` interleaved transforms of size `left` by the factor p.
  void pass(std::int64_t p, std::int64_t left, std::int64_t done, const Number* from,
            Number* to) const {
    const std::int64_t part = left / p;
    for (std::int64_t j = 0; j < part; ++j) {
      const Number* x = from + done * j;
      Number* y = to + done * p * j;
      if (p == 4) {
        butterflies_of_four(x, done * part, y, done, j);
        continue;
      }
      if (p == 2) {
        butterflies_of_two(x, done * part, y, done, at(done * j));
        continue;
      }
      for (std::int64_t q = 0; q < done; ++q) odd_transform(p, x + q, done * part, y + q, done);
      for (std::int64_t t = 1; t < p; ++t) {
        const Complex twiddle = at(done * j * t);
        for (std::int64_t q = 0; q < done; ++q) y[done * t + q] = y[done * t + q] * twiddle;
      }
    }
  }

  void butterflies_of_four(const Number* x, std::int64_t step, Number* y, std::int64_t done,
                           std::int64_t j) const {
    const Complex first = at(done * j);
    const Complex second = at(done * j * 2);
    const Complex third = at(done * j * 3);
    for (std::int64_t q = 0; q < done; ++q, ++x, ++y) {
      const Number a = x[0] + x[2 * step];
      const Number b = x[0] - x[2 * step];
      const Number c = x[step] + x[3 * step];
      const Number d = times_minus_i(x[step] - x[3 * step]);
      y[0] = a + c;
      y[done] = (b + d) * first;
      y[2 * done] = (a - c) * second;
      y[3 * done] = (b - d) * third;
    }
  }

  static void butterflies_of_two(const Number* x, std::int64_t step, Number* y, std::int64_t done,
                                 Complex twiddle) {
    for (std::int64_t q = 0; q < done; ++q, ++x, ++y) {
      y[0] = x[0] + x[step];
      y[done] = (x[0] - x[step]) * twiddle;
    }
  }

  // The roots of r and p - r are conjugates, so both use the same products.
  void odd_transform(std::int64_t p, const Number* x, std::int64_t step, Number* y,
                     std::int64_t apart) const {
    const std::int64_t pairs = p / 2;
    std::array<Number, kLargestFactor / 2 + 1> sums;
    std::array<Number, kLargestFactor / 2 + 1> differences;
    Number total = x[0];
    for (std::int64_t r = 1; r <= pairs; ++r) {
      const auto pair = static_cast<std::size_t>(r);
      sums[pair] = x[r * step] + x[(p - r) * step];
      differences[pair] = x[r * step] - x[(p - r) * step];
      total = total + sums[pair];
    }
    y[0] = total;
    for (std::int64_t t = 1; t <= pairs; ++t) {
      Number even = x[0];
      Number odd{};
      for (std::int64_t r = 1, k = t; r <= pairs; ++r, k = k + t < p ? k + t : k + t - p) {
        const Complex unit = at(n_ / p * k);
        even = even + sums[static_cast<std::size_t>(r)] * unit.real();
        odd = odd + times_minus_i(differences[static_cast<std::size_t>(r)] * unit.imag());
      }
      y[apart * t] = even - odd;
      y[apart * (p - t)] = even + odd;
    }
  }

  const Complex& at(std::int64_t k) const { return roots_[static_cast<std::size_t>(k)]; }

  std::int64_t n_;
  std::vector<std::int64_t> factors_;
  Roots roots_;
};

// j k = (j^2 + k^2 - (j - k)^2) / 2 makes the transform a convolution with exp(pi i k^2 / n).
class ChirpTransform final : public Transform {
 public:
  explicit ChirpTransform(std::int64_t n)
      : n_(n),
        padded_(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * n - 1)))),
        inner_(padded_, factors_of(padded_)),
        kernel_(static_cast<std::size_t>(padded_)) {
    // k^2 modulo 2n, incrementally: the square itself would lose digits.
    for (std::int64_t k = 0, square = 0; k < n; square = (square + 2 * k + 1) % (2 * n), ++k) {
      chirp_.push_back(root(square, 2 * n));
      kernel_[index(k)] = std::conj(chirp_.back());
      kernel_[index((padded_ - k) % padded_)] = std::conj(chirp_.back());
    }
    Numbers transformed(kernel_.size());
    for (std::size_t k = 0; k < kernel_.size(); ++k) {
      transformed[k] = {splat(kernel_[k].real()), splat(kernel_[k].imag())};
    }
    Numbers scratch;
    inner_.run(transformed.data(), scratch);
    for (std::size_t k = 0; k < kernel_.size(); ++k) {
      kernel_[k] = {transformed[k].re[0], transformed[k].im[0]};
    }
  }

  void run(Number* x, Numbers& scratch) const override {
    Numbers padded(static_cast<std::size_t>(padded_));
    for (std::int64_t k = 0; k < n_; ++k) padded[index(k)] = x[k] * chirp_[index(k)];
    inner_.run(padded.data(), scratch);
    // The inverse transform is the conjugate of the forward transform of the conjugates.
    for (std::size_t k = 0; k < padded.size(); ++k) padded[k] = conj(padded[k] * kernel_[k]);
    inner_.run(padded.data(), scratch);
    const double scale = 1 / static_cast<double>(padded_);
    for (std::int64_t k = 0; k < n_; ++k) {
      x[k] = conj(padded[index(k)]) * chirp_[index(k)] * scale;
    }
  }

 private:
  static std::size_t index(std::int64_t k) { return static_cast<std::size_t>(k); }

  std::int64_t n_;
  std::int64_t padded_;
  FactorTransform inner_;
  Roots kernel_;
  Roots chirp_;
};

}  // namespace

std::unique_ptr<Transform> Transform::of(std::int64_t n) {
  std::vector<std::int64_t> factors = factors_of(n);
  if (!factors.empty() && factors.back() > kLargestFactor)
    return std::make_unique<ChirpTransform>(n);
  return std::make_unique<FactorTransform>(n, std::move(factors));
}

}  // namespace eg::cpu::fft
