// Discrete Fourier transforms of rows.
//
// A size with small prime factors is transformed factor by factor (Stockham's ordering, which needs
// no bit reversal). A size with a large prime factor becomes a convolution of a power-of-two size
// (Bluestein). Everything is computed in double, whatever the dtype of the rows. Each vector lane
// holds a different row, so no lane is ever shuffled and rows do not affect each other.

#include "kernels/fft.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <vector>

#include "backend/cpu/vector/vec.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using Complex = std::complex<double>;

constexpr std::int64_t kRowsAtOnce = kLanes<double>;

// One complex number from each of the rows that are transformed together.
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

// Returns the first `count` n-th roots of unity. Those past an eighth of the circle are mirrored
// from earlier ones.
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

// A forward transform of one size. Threads may share it.
class Transform {
 public:
  virtual ~Transform() = default;
  /// Transforms `x` in place; `scratch` is resized as needed.
  virtual void run(Number* x, Numbers& scratch) const = 0;

  static std::unique_ptr<Transform> of(std::int64_t n);
};

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
  // Splits the transforms of size `left`, of which `done` are interleaved, by the factor p.
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

std::unique_ptr<Transform> Transform::of(std::int64_t n) {
  std::vector<std::int64_t> factors = factors_of(n);
  if (!factors.empty() && factors.back() > kLargestFactor)
    return std::make_unique<ChirpTransform>(n);
  return std::make_unique<FactorTransform>(n, std::move(factors));
}

// Returns the offset of a row whose elements are `inner` apart.
std::int64_t row_offset(const kernel::Rows& rows, std::int64_t row, std::int64_t length) {
  return row / rows.inner * length * rows.inner + row % rows.inner;
}

// The numbers of one row within a group of rows, as real and imaginary parts.
struct Part {
  double* at;

  Part(Number* numbers, std::size_t lane) : at(reinterpret_cast<double*>(numbers) + lane) {
    static_assert(sizeof(Number) == 2 * kRowsAtOnce * sizeof(double));
  }
  double& re() const { return at[0]; }
  double& im() const { return at[kRowsAtOnce]; }
  void advance() { at += 2 * kRowsAtOnce; }
};

// Processes groups of rows with read(part, row), run(numbers, scratch) and write(part, row). In a
// partial group the last row is repeated.
template <class Read, class Run, class Write>
void for_rows(const kernel::Rows& rows, std::int64_t size, Read&& read, Run&& run, Write&& write) {
  const std::int64_t rows_per_task = std::max({std::int64_t{1}, kMinElementsPerTask / rows.size});
  parallel_for(0, rows.positions(), rows_per_task, [&](std::int64_t begin, std::int64_t end) {
    Numbers numbers(static_cast<std::size_t>(size));
    Numbers scratch;
    for (std::int64_t first = begin; first < end; first += kRowsAtOnce) {
      const auto for_each_lane = [&](auto& visit) {
        for (std::int64_t lane = 0; lane < kRowsAtOnce; ++lane) {
          visit(Part(numbers.data(), static_cast<std::size_t>(lane)),
                std::min(first + lane, end - 1));
        }
      };
      for_each_lane(read);
      run(numbers.data(), scratch);
      for_each_lane(write);
    }
  });
}

// Reads `count` complex numbers. The two parts of a number are `apart` elements from each other,
// and consecutive numbers are `step` elements apart.
template <class T>
void read_row(Part part, std::int64_t count, const T* x, std::size_t apart, std::size_t step,
              double sign) {
  for (; count > 0; --count, x += step, part.advance()) {
    part.re() = x[0];
    part.im() = sign * x[apart];
  }
}

// Writes `count` complex numbers in the same layout.
template <class T>
void write_row(Part part, std::int64_t count, T* y, std::size_t apart, std::size_t step,
               double scale, double sign) {
  for (; count > 0; --count, y += step, part.advance()) {
    y[0] = static_cast<T>(part.re() * scale);
    y[apart] = static_cast<T>(part.im() * (sign * scale));
  }
}

template <class T>
void transform_rows(const kernel::Fft& call) {
  const kernel::Rows& rows = call.rows;
  const auto inner = static_cast<std::size_t>(rows.inner);
  const std::unique_ptr<Transform> transform = Transform::of(rows.size);
  // The inverse transform is the conjugate of the forward transform of the conjugates.
  const double sign = call.inverse ? -1 : 1;
  T* const x = call.x.as<T>();
  const auto at = [&](std::int64_t row) { return x + 2 * row_offset(rows, row, rows.size); };
  for_rows(
      rows, rows.size,
      [&](Part part, std::int64_t row) {
        read_row<T>(part, rows.size, at(row), 1, 2 * inner, sign);
      },
      [&](Number* numbers, Numbers& scratch) { transform->run(numbers, scratch); },
      [&](Part part, std::int64_t row) {
        write_row(part, rows.size, at(row), 1, 2 * inner, call.scale, sign);
      });
}

// A real transform of even size n is computed as a complex transform of size n / 2 over pairs of
// neighbours. Let E and O be the transforms of the even and of the odd elements. The complex
// transform yields E + i O. E is conjugate-symmetric and i O conjugate-antisymmetric, so the two
// can be separated, and X[k] = E[k] + exp(-2 pi i k / n) O[k]. The inverse recovers E + i O from
// half a spectrum, and the numbers from that.
class RealTransform {
 public:
  explicit RealTransform(std::int64_t n)
      : n_(n), inner_(Transform::of(half())), roots_(roots_of(n, half() / 2 + 1)) {}

  std::int64_t half() const { return n_ / 2; }

  /// Transforms half() complex numbers (pairs of real ones) into a spectrum of half() + 1.
  void run(Number* x, Numbers& scratch) const {
    inner_->run(x, scratch);
    const Number both = x[0];
    x[0] = Number{both.re + both.im, {}};
    x[half()] = Number{both.re - both.im, {}};
    for (std::int64_t k = 1; 2 * k <= half(); ++k) {
      const Number low = x[k];
      const Number high = conj(x[half() - k]);
      const Number even = (low + high) * 0.5;
      const Number odd = times_minus_i(low - high) * 0.5 * roots_[static_cast<std::size_t>(k)];
      x[k] = even + odd;
      x[half() - k] = conj(even - odd);
    }
  }

  /// Transforms a spectrum of half() + 1 numbers into half() conjugated pairs of real numbers. The
  /// imaginary parts of the first and the last number are ignored.
  void run_back(Number* x, Numbers& scratch) const {
    const Vec<double> first = x[0].re;
    const Vec<double> last = x[half()].re;
    x[0] = Number{first + last, last - first};
    for (std::int64_t k = 1; 2 * k <= half(); ++k) {
      const Number low = x[k];
      const Number high = conj(x[half() - k]);
      const Number even = conj(low + high);
      const Number odd = times_minus_i(conj(low - high) * roots_[static_cast<std::size_t>(k)]);
      x[half() - k] = conj(even - odd);
      x[k] = even + odd;
    }
    inner_->run(x, scratch);
  }

 private:
  std::int64_t n_;
  std::unique_ptr<Transform> inner_;
  Roots roots_;
};

template <class T>
void transform_real_rows(const kernel::RealFft& call) {
  const kernel::Rows& rows = call.rows;
  const auto inner = static_cast<std::size_t>(rows.inner);
  const RealTransform transform(rows.size);
  const std::int64_t results = transform.half() + 1;
  for_rows(
      rows, results,
      [&](Part part, std::int64_t row) {
        const T* const x = call.x.as<T>() + row_offset(rows, row, rows.size);
        read_row(part, transform.half(), x, inner, 2 * inner, 1);
      },
      [&](Number* numbers, Numbers& scratch) { transform.run(numbers, scratch); },
      [&](Part part, std::int64_t row) {
        T* const y = call.y.as<T>() + 2 * row_offset(rows, row, results);
        write_row(part, results, y, 1, 2 * inner, call.scale, 1);
      });
}

template <class T>
void transform_to_real_rows(const kernel::InverseRealFft& call) {
  const kernel::Rows& rows = call.rows;
  const auto inner = static_cast<std::size_t>(rows.inner);
  const RealTransform transform(rows.size);
  const std::int64_t given = transform.half() + 1;
  for_rows(
      rows, given,
      [&](Part part, std::int64_t row) {
        const T* const x = call.x.as<T>() + 2 * row_offset(rows, row, given);
        read_row(part, given, x, 1, 2 * inner, 1);
      },
      [&](Number* numbers, Numbers& scratch) { transform.run_back(numbers, scratch); },
      [&](Part part, std::int64_t row) {
        T* const y = call.y.as<T>() + row_offset(rows, row, rows.size);
        write_row(part, transform.half(), y, inner, 2 * inner, call.scale, -1);
      });
}

}  // namespace

}  // namespace eg::cpu

namespace eg::kernel {

void Fft::compute_on_cpu() const {
  if (rows.numel() == 0) return;
  if (x.dtype() == DType::kComplex64)
    cpu::transform_rows<float>(*this);
  else
    cpu::transform_rows<double>(*this);
}

void RealFft::compute_on_cpu() const {
  if (rows.numel() == 0) return;
  visit_floating(x.dtype(), name, [&]<class T>() { cpu::transform_real_rows<T>(*this); });
}

void InverseRealFft::compute_on_cpu() const {
  if (rows.numel() == 0) return;
  visit_floating(y.dtype(), name, [&]<class T>() { cpu::transform_to_real_rows<T>(*this); });
}

}  // namespace eg::kernel
