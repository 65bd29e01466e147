// compile: kernels

#include "runtime/random_math.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace eg {
namespace {

constexpr int kLanes = 8;

// Eight float32, as in an AVX register. Loops over them are vectorised to the target's SIMD width.
struct Lanes {
  float at[kLanes];
};

template <class Function>
inline Lanes each(Function function) {
  Lanes result;
  for (int i = 0; i < kLanes; ++i) result.at[i] = function(i);
  return result;
}

inline Lanes operator*(const Lanes& a, const Lanes& b) {
  return each([&](int i) { return a.at[i] * b.at[i]; });
}
inline Lanes operator*(float a, const Lanes& b) {
  return each([&](int i) { return a * b.at[i]; });
}
inline Lanes operator+(const Lanes& a, const Lanes& b) {
  return each([&](int i) { return a.at[i] + b.at[i]; });
}
inline Lanes operator+(const Lanes& a, float b) {
  return each([&](int i) { return a.at[i] + b; });
}

// The product is exact in float64, so there are two roundings: of the sum, and to float32. They
// differ from a single rounding only if the first result is midway between two float32, about once
// in 2^29.
inline float nearly_fused(float a, float b, float c) {
  return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) +
                            static_cast<double>(c));
}
inline Lanes fused(const Lanes& a, const Lanes& b, const Lanes& c) {
  return each([&](int i) { return nearly_fused(a.at[i], b.at[i], c.at[i]); });
}
inline Lanes fused(const Lanes& a, const Lanes& b, float c) {
  return each([&](int i) { return nearly_fused(a.at[i], b.at[i], c); });
}
inline Lanes fused(const Lanes& a, float b, const Lanes& c) {
  return each([&](int i) { return nearly_fused(a.at[i], b, c.at[i]); });
}
inline Lanes fused(const Lanes& a, float b, float c) {
  return each([&](int i) { return nearly_fused(a.at[i], b, c); });
}

// A float32 uniform is the low 24 bits of a word.
constexpr std::uint32_t kUniformBits = 24;
constexpr std::uint32_t kUniformMask = (1u << kUniformBits) - 1;
constexpr float kUniformStep = 1.0f / (1u << kUniformBits);

// In log_lanes and sincos_lanes the coefficients, the order and the fused operations are PyTorch's
// (Cephes, from avx_mathfun.h, as GCC compiles it): any other choice changes bits. Where a product
// is exact, fusing makes no difference and plain float32 arithmetic is used.

Lanes log_lanes(const Lanes& u) {
  const Lanes mantissa = each([&](int i) {
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(u.at[i]) & 0x007fffffu) |
                                0x3f000000u);
  });
  const Lanes exponent = each([&](int i) {
    const int biased = static_cast<int>(std::bit_cast<std::uint32_t>(u.at[i]) >> 23);
    return static_cast<float>(biased - 126) - (mantissa.at[i] < 0.70710678f ? 1.0f : 0.0f);
  });
  const Lanes x = each([&](int i) {
    return mantissa.at[i] - 1.0f + (mantissa.at[i] < 0.70710678f ? mantissa.at[i] : 0.0f);
  });
  const Lanes square = x * x;
  Lanes y = fused(x, 7.0376836292e-2f, -1.1514610310e-1f);
  y = fused(y, x, 1.1676998740e-1f);
  y = fused(y, x, -1.2420140846e-1f);
  y = fused(y, x, 1.4249322787e-1f);
  y = fused(y, x, -1.6668057665e-1f);
  y = fused(y, x, 2.0000714765e-1f);
  y = fused(y, x, -2.4999993993e-1f);
  y = fused(y, x, 3.3333331174e-1f);
  y = fused(y * x, square, -2.12194440e-4f * exponent);
  y = y + -0.5f * square;
  return (x + y) + 0.693359375f * exponent;
}

void sincos_lanes(const Lanes& angle, Lanes& sin, Lanes& cos) {
  int quadrant[kLanes];
  Lanes r;
  for (int i = 0; i < kLanes; ++i) {
    quadrant[i] = (static_cast<int>(angle.at[i] * 1.27323954473516f) + 1) >> 1;
    r.at[i] = static_cast<float>(2 * quadrant[i]);
  }
  // Subtracts pi / 4 in three parts, of which the first two are short enough for exact products.
  r = fused(r, -3.77489497744594108e-8f,
            (angle + -0.78515625f * r) + -2.4187564849853515625e-4f * r);
  const Lanes square = r * r;

  Lanes c = fused(square, 2.443315711809948e-5f, -1.388731625493765e-3f);
  c = fused(c, square, 4.166664568298827e-2f);
  c = fused(c * square, square, -0.5f * square) + 1.0f;

  Lanes s = fused(square, -1.9515295891e-4f, 8.3321608736e-3f);
  s = fused(s, square, -1.6666654611e-1f);
  s = fused(s * square, r, r);

  for (int i = 0; i < kLanes; ++i) {
    const bool swapped = (quadrant[i] & 1) != 0;
    const float along = swapped ? s.at[i] : c.at[i];
    const float across = swapped ? c.at[i] : s.at[i];
    cos.at[i] = ((quadrant[i] + 1) & 2) != 0 ? -along : along;
    sin.at[i] = (quadrant[i] & 2) != 0 ? -across : across;
  }
}

}  // namespace

void box_muller_16(std::span<const std::uint32_t, 16> words, std::span<float, 16> out, float mean,
                   float std) {
  const auto uniform = [&](int i) {
    return static_cast<float>(static_cast<int>(words[static_cast<std::size_t>(i)] & kUniformMask)) *
           kUniformStep;
  };
  const Lanes u = each([&](int i) { return 1.0f - uniform(i); });
  const Lanes angle = each([&](int i) { return uniform(kLanes + i) * 6.2831853071795864769f; });
  const Lanes log = log_lanes(u);
  const Lanes radius = each([&](int i) { return std::sqrt(-2.0f * log.at[i]); });
  Lanes sin, cos;
  sincos_lanes(angle, sin, cos);
  std::copy_n(fused(radius * cos, std, mean).at, kLanes, out.data());
  std::copy_n(fused(radius * sin, std, mean).at, kLanes, out.data() + kLanes);
}

float fused_multiply_add(float a, float b, float c) {
  const double sum = static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c);
  const bool midway = (std::bit_cast<std::uint64_t>(sum) & 0x1fffffffu) == 0x10000000u;
  return midway ? std::fma(a, b, c) : static_cast<float>(sum);
}

double unit_log(double x) {
  constexpr double kLn2High =
      0x1.62e42fefa38p-1;  // short, so that its product with any exponent is exact
  constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  // x = (1 + f) * 2^exponent with 1 + f between sqrt(1/2) and sqrt(2).
  const std::uint64_t bits =
      std::bit_cast<std::uint64_t>(x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
  const double exponent = static_cast<double>(static_cast<int>(bits >> 52) - 1023);
  const double f = std::bit_cast<double>((bits & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1;
  // log(1 + f) = 2 artanh(s) = 2 s + 2/3 s^3 + 2/5 s^5 + ...; f is exact, so 2 s is computed as f -
  // s f.
  const double s = f / (2 + f);
  const double z = s * s;
  double tail = 2.0 / 21;
  for (int n = 19; n >= 3; n -= 2) tail = tail * z + 2.0 / n;
  return exponent * kLn2High - ((s * (f - z * tail) - exponent * kLn2Low) - f);
}

SinCos unit_sincos(double angle) {
  // Pi / 2 in three parts; the first two have 33 bits, so that their products with 0 to 4 are
  // exact.
  constexpr double kHigh = 0x1.921fb544p+0;
  constexpr double kMiddle = 0x1.0b4611a6p-34;
  constexpr double kLow = 0x1.3198a2e037073p-69;
  constexpr double kFourOverPi = 0x1.45f306dc9c883p+0;
  const int quadrant = (static_cast<int>(angle * kFourOverPi) + 1) / 2;
  const double n = quadrant;
  const double first = angle - n * kHigh;
  const double second = first - n * kMiddle;
  // The rounding error of the second subtraction, whichever operand was larger, and the third part.
  const double back = second - first;
  const double lost = (first - (second - back)) - (n * kMiddle + back) - n * kLow;
  const double r = second + lost;
  const double rest = (second - r) + lost;

  const double z = r * r;
  double s = 1.0 / 355687428096000;
  for (const double factorial :
       {1307674368000.0, 6227020800.0, 39916800.0, 362880.0, 5040.0, 120.0, 6.0}) {
    s = 1 / factorial - s * z;
  }
  double c = 1.0 / 20922789888000;
  for (const double factorial : {87178291200.0, 479001600.0, 3628800.0, 40320.0, 720.0, 24.0}) {
    c = 1 / factorial - c * z;
  }
  const double half = 0.5 * z;
  const double near = 1 - half;
  const double sin = r + (rest * near - r * z * s);
  const double cos = near + (((1 - near) - half) + (z * z * c - r * rest));
  switch (quadrant & 3) {
    case 0:
      return {sin, cos};
    case 1:
      return {cos, -sin};
    case 2:
      return {-sin, -cos};
    default:
      return {-cos, sin};
  }
}

}  // namespace eg
