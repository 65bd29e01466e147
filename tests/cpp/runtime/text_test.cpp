// The parts of messages.

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/small_vector.h"

namespace eg {
namespace {

std::string printed(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

TEST(Text, NumbersAreWrittenAsPrintfWritesThem) {
  using Limits = std::numeric_limits<double>;
  for (const double value : {0.0,
                             -0.0,
                             1.0,
                             0.1,
                             -2.5,
                             1e-4,
                             1e-5,
                             0.00012345649,
                             9.9999995e-5,
                             123456.0,
                             999999.4999,
                             999999.5,
                             1234567.0,
                             1e6,
                             1e100,
                             -7.25e-9,
                             1.0 / 3,
                             Limits::max(),
                             Limits::min(),
                             Limits::denorm_min(),
                             Limits::infinity(),
                             -Limits::infinity()}) {
    EXPECT_EQ(join_text(value), printed(value));
  }
  EXPECT_EQ(join_text(std::abs(Limits::quiet_NaN())), "nan");
}

TEST(Text, AnyNumberIsWrittenAsPrintfWritesIt) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (std::isnan(value)) continue;
    ASSERT_EQ(join_text(value), printed(value));
  }
  // Numbers as people write them.
  for (int i = 0; i < 1'000'000; i += 7) {
    for (const double scale : {1.0, 1e-3, 1e-6, 1e-9, 1e12}) {
      ASSERT_EQ(join_text(i * scale), printed(i * scale));
    }
  }
}

TEST(SmallVector, SortsAFew) {
  SmallVector<std::int64_t, 5> values{3, -1, 2, 2, 9, 0, 7};
  sort_few(values);
  EXPECT_EQ(values, (SmallVector<std::int64_t, 5>{-1, 0, 2, 2, 3, 7, 9}));
  sort_few(values, std::greater<>());
  EXPECT_EQ(values, (SmallVector<std::int64_t, 5>{9, 7, 3, 2, 2, 0, -1}));
  SmallVector<std::int64_t, 5> none;
  sort_few(none);
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace eg
