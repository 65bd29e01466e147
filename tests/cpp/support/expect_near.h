#pragma once

// Expectations of numbers that are not exact.

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "support/tensors.h"

namespace eg::testing {

/// Expects every number to differ from its expectation by `tolerance` at most.
inline void expect_near(const std::vector<double>& actual, const std::vector<double>& expected,
                        double tolerance = 1e-6) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], tolerance) << "at " << i;
}
inline void expect_near(const Tensor& actual, const std::vector<double>& expected,
                        double tolerance = 1e-6) {
  expect_near(values(actual), expected, tolerance);
}

/// The same with a tolerance that grows with the expectation.
inline void expect_close(const Tensor& actual, const std::vector<double>& expected,
                         double tolerance) {
  const std::vector<double> numbers = values(actual);
  ASSERT_EQ(numbers.size(), expected.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    EXPECT_NEAR(numbers[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "at " << i;
}

}  // namespace eg::testing
