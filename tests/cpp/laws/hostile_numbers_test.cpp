// For any numbers as arguments an op returns a result or throws a named error for the caller.
// Overflow is found by UndefinedBehaviorSanitizer, writes out of bounds by AddressSanitizer.

#include <limits>
#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/graph/variable.h"
#include "dispatch/factories.h"
#include "ops/op_table.h"
#include "support/sample_cases.h"

namespace eg {
namespace {

using testing::SampleCall;
using testing::SampleCase;

// Used as sizes, some of them are too small or too large.
constexpr double kHostile[] = {-0x1p53,
                               -0x1p32 - 1,
                               -0x1p31 - 1,
                               -1,
                               0,
                               0x1p31 + 1,
                               0x1p32,
                               0x1p32 + 1,
                               0x1p53,
                               0.5,
                               1e308,
                               std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()};

class HostileNumbers : public ::testing::TestWithParam<SampleCase> {
 protected:
  void SetUp() override {
    // Most sizes that fit a 64-bit size_t would really be allocated and exhaust the memory.
    if (sizeof(std::size_t) > 4) GTEST_SKIP() << "for a 32-bit size_t";
  }
};

// Runs the op, its gradient and its in-place form.
void expect_result_or_named_error(const SampleCall& op) {
  const auto attempt = [](auto&& body) {
    try {
      body();
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
      EXPECT_EQ(std::string_view(error.what()).find('['), 0U) << error.what();
    } catch (const std::bad_alloc&) {
      // The bindings report it as OutOfMemory.
    } catch (const std::length_error&) {
    }
  };
  const TensorList leaves = op.leaves();
  attempt([&] {
    TensorList recorded;
    TensorList ones;
    for (const Tensor& result : op(leaves)) {
      if (!requires_grad(result)) continue;
      recorded.push_back(result);
      ones.push_back(named("ones", [&] { return full_like(result, 1); }));
    }
    GradOptions options;
    options.materialize_grads = true;
    if (!recorded.empty() && !leaves.empty()) grad(recorded, leaves, ones, options);
  });
  TensorList plain;
  for (const Tensor& leaf : leaves) plain.push_back(contiguous_copy(detach(leaf)));
  attempt([&] { op(plain, true); });
}

TEST_P(HostileNumbers, AsArguments) {
  for (const double value : kHostile) {
    SCOPED_TRACE(GetParam().sample + " with " + std::to_string(value));
    for (const SampleCall& op : GetParam().call().with_number(value))
      expect_result_or_named_error(op);
  }
}

TEST_P(HostileNumbers, AsSizesBesideAnEmptyDimension) {
  const SampleCall op = GetParam().call();
  for (const std::int64_t empty : op.sizes()) {
    for (const std::int64_t other : op.sizes()) {
      if (other == empty) continue;
      SCOPED_TRACE(GetParam().sample + " with " + std::to_string(empty) + " empty and " +
                   std::to_string(other) + " huge");
      expect_result_or_named_error(op.without_but_huge(empty, other, std::int64_t{1} << 40));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, HostileNumbers, ::testing::ValuesIn(testing::sample_cases()),
                         [](const auto& test) { return test.param.label; });

}  // namespace
}  // namespace eg
