// Discrete Fourier transforms of rows.
//
// A size with small prime factors is transformed factor by factor (Stockham's ordering, which needs
// no bit reversal). One with a large prime factor becomes a convolution of a power-of-two size
// (Bluestein). Everything is computed in double, whatever the dtype of the rows.

#include "kernels/fft.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <numbers>
#include <vector>

#include "backend/cpu/vector/pack_complex.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using Number = Pack<Complex>;
using Numbers = std::vector<Number>;

// A prime factor p costs p operations per element; beyond this a convolution is cheaper.
constexpr std::int64_t kLargestFactor = 31;

// exp(-2 pi i k / n); the index is reduced first, which keeps the angle exact, and so are quarters.
Number root(std::int64_t k, std::int64_t n) {
  k %= n;
  if (4 * k % n == 0) {
    constexpr std::array<Complex, 4> kQuarters{Complex(1, 0), {0, -1}, {-1, 0}, {0, 1}};
    return kQuarters[static_cast<std::size_t>(4 * k / n)];
  }
  const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return Complex(std::cos(angle), std::sin(angle));
}

Numbers roots_of(std::int64_t n) {
  Numbers roots(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) roots[static_cast<std::size_t>(k)] = root(k, n);
  return roots;
}

// The factors to transform by, fours first; the last may be a prime too large for that.
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

// A forward transform of one size; threads may share it.
class Transform {
 public:
  virtual ~Transform() = default;
  /// Transforms `x`; `scratch` has the size it asked for.
  virtual void run(Number* x, Numbers& scratch) const = 0;

  static std::unique_ptr<Transform> of(std::int64_t n);
};

class FactorTransform final : public Transform {
 public:
  FactorTransform(std::int64_t n, std::vector<std::int64_t> factors)
      : n_(n), factors_(std::move(factors)), roots_(roots_of(n)) {}

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
  // Splits transforms of size `left`, of which `done` lie interleaved, by the factor p.
  void pass(std::int64_t p, std::int64_t left, std::int64_t done, const Number* from,
            Number* to) const {
    const std::int64_t part = left / p;
    for (std::int64_t j = 0; j < part; ++j) {
      for (std::int64_t q = 0; q < done; ++q) {
        const Number* x = from + q + done * j;
        Number* y = to + q + done * p * j;
        if (p == 4) {
          butterfly_of_four(x, done * part, y, done);
        } else {
          small_transform(p, x, done * part, y, done);
        }
        for (std::int64_t t = 1; t < p; ++t) y[done * t] = y[done * t] * at(done * j * t);
      }
    }
  }

  static void butterfly_of_four(const Number* x, std::int64_t step, Number* y, std::int64_t apart) {
    const Number a = x[0] + x[2 * step];
    const Number b = x[0] - x[2 * step];
    const Number c = x[step] + x[3 * step];
    const Number d = x[step] - x[3 * step];
    const Number turned = Complex(d.v.imag(), -d.v.real());
    y[0] = a + c;
    y[apart] = b + turned;
    y[2 * apart] = a - c;
    y[3 * apart] = b - turned;
  }

  void small_transform(std::int64_t p, const Number* x, std::int64_t step, Number* y,
                       std::int64_t apart) const {
    for (std::int64_t t = 0; t < p; ++t) {
      Number sum = x[0];
      for (std::int64_t r = 1; r < p; ++r) sum = sum + x[r * step] * at(n_ / p * (r * t % p));
      y[apart * t] = sum;
    }
  }

  const Number& at(std::int64_t k) const { return roots_[static_cast<std::size_t>(k)]; }

  std::int64_t n_;
  std::vector<std::int64_t> factors_;
  Numbers roots_;
};

// j k = (j^2 + k^2 - (j - k)^2) / 2 makes the transform a convolution with exp(pi i k^2 / n).
class ChirpTransform final : public Transform {
 public:
  explicit ChirpTransform(std::int64_t n)
      : n_(n),
        padded_(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * n - 1)))),
        inner_(padded_, factors_of(padded_)),
        kernel_(static_cast<std::size_t>(padded_), Number(0)) {
    // k^2 modulo 2n, step by step: the square itself would lose digits.
    for (std::int64_t k = 0, square = 0; k < n; square = (square + 2 * k + 1) % (2 * n), ++k) {
      chirp_.push_back(root(square, 2 * n));
      kernel_[static_cast<std::size_t>(k)] = conj(chirp_.back());
      kernel_[static_cast<std::size_t>((padded_ - k) % padded_)] = conj(chirp_.back());
    }
    Numbers scratch;
    inner_.run(kernel_.data(), scratch);
  }

  void run(Number* x, Numbers& scratch) const override {
    Numbers room(static_cast<std::size_t>(padded_), Number(0));
    for (std::int64_t k = 0; k < n_; ++k) room[index(k)] = x[k] * chirp_[index(k)];
    inner_.run(room.data(), scratch);
    // A forward transform of the conjugates is the inverse one, conjugated.
    for (std::size_t k = 0; k < room.size(); ++k) room[k] = conj(room[k] * kernel_[k]);
    inner_.run(room.data(), scratch);
    const double scale = 1 / static_cast<double>(padded_);
    for (std::int64_t k = 0; k < n_; ++k) {
      x[k] = conj(room[index(k)]) * chirp_[index(k)] * scale;
    }
  }

 private:
  static std::size_t index(std::int64_t k) { return static_cast<std::size_t>(k); }

  std::int64_t n_;
  std::int64_t padded_;
  FactorTransform inner_;
  Numbers kernel_;
  Numbers chirp_;
};

std::unique_ptr<Transform> Transform::of(std::int64_t n) {
  std::vector<std::int64_t> factors = factors_of(n);
  if (!factors.empty() && factors.back() > kLargestFactor)
    return std::make_unique<ChirpTransform>(n);
  return std::make_unique<FactorTransform>(n, std::move(factors));
}

template <class T>
void transform_rows(const kernel::Fft& call) {
  const kernel::Rows& rows = call.rows;
  const std::unique_ptr<Transform> transform = Transform::of(rows.size);
  const std::int64_t rows_per_task = std::max({std::int64_t{1}, kMinElementsPerTask / rows.size});
  parallel_for(0, rows.positions(), rows_per_task, [&](std::int64_t begin, std::int64_t end) {
    Numbers row(static_cast<std::size_t>(rows.size));
    Numbers scratch;
    const auto swapped = [&](Number n) { return call.inverse ? conj(n) : n; };
    for (std::int64_t i = begin; i < end; ++i) {
      std::complex<T>* first =
          call.x.as<std::complex<T>>() + i / rows.inner * rows.size * rows.inner + i % rows.inner;
      for (std::int64_t k = 0; k < rows.size; ++k) {
        row[static_cast<std::size_t>(k)] = swapped(Complex(first[k * rows.inner]));
      }
      transform->run(row.data(), scratch);
      for (std::int64_t k = 0; k < rows.size; ++k) {
        const Complex scaled = swapped(row[static_cast<std::size_t>(k)]).v * call.scale;
        first[k * rows.inner] = static_cast<std::complex<T>>(scaled);
      }
    }
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

}  // namespace eg::kernel
