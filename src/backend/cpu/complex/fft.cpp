// Fourier transforms of the rows of tensors: complex rows, real rows, and spectra of real rows.

#include "kernels/fft.h"

#include <cstdint>
#include <memory>

#include "backend/cpu/complex/transform.h"
#include "backend/cpu/vector/vec.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using fft::Number;
using fft::Numbers;
using fft::Roots;
using fft::Transform;

constexpr std::int64_t kRowsAtOnce = kLanes<double>;

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
// neighbors. Let E and O be the transforms of the even and of the odd elements. The complex
// transform yields E + i O. E is conjugate-symmetric and i O conjugate-antisymmetric, so the two
// can be separated, and X[k] = E[k] + exp(-2 pi i k / n) O[k]. The inverse recovers E + i O from
// half a spectrum, and the numbers from that.
class RealTransform {
 public:
  explicit RealTransform(std::int64_t n)
      : n_(n), inner_(Transform::of(half())), roots_(fft::roots_of(n, half() / 2 + 1)) {}

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
