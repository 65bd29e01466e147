// compile: kernels

#include "backend/cpu/linalg/complex_vector.h"

#include <cstring>

#include "backend/cpu/vector/vec.h"

namespace eg::cpu {
namespace {

// A vector has the real and the imaginary part of one number.
static_assert(kLanes<double> == 2);

Vec<double> load(const Complex* x) {
  Vec<double> parts;
  std::memcpy(&parts, x, sizeof parts);
  return parts;
}

Vec<double> swapped(Vec<double> x) { return Vec<double>{x[1], x[0]}; }

}  // namespace

Complex inner(std::int64_t count, const Complex* a, const Complex* b) {
  // Two sums of each hide the latency of additions.
  Vec<double> same[2] = {};
  Vec<double> crossed[2] = {};
  const auto add = [&](std::int64_t i, int to) {
    same[to] += load(a + i) * load(b + i);
    crossed[to] += load(a + i) * swapped(load(b + i));
  };
  std::int64_t i = 0;
  for (; i + 1 < count; i += 2) {
    add(i, 0);
    add(i + 1, 1);
  }
  if (i < count) add(i, 0);
  const Vec<double> real = same[0] + same[1];
  const Vec<double> imaginary = crossed[0] + crossed[1];
  return {real[0] + real[1], imaginary[0] - imaginary[1]};
}

void add_scaled(std::int64_t count, Complex factor, const Complex* x, Complex* y) {
  const double real = factor.real();
  const Vec<double> imaginary{-factor.imag(), factor.imag()};
  for (std::int64_t i = 0; i < count; ++i) {
    const Vec<double> value = load(x + i);
    const Vec<double> sum = load(y + i) + (value * real + swapped(value) * imaginary);
    y[i] = {sum[0], sum[1]};
  }
}

}  // namespace eg::cpu
