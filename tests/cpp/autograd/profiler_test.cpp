#include "autograd/profiler.h"

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "support/graphs.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::leaf;
using testing::mul;
using testing::sum;

// rule: profiler-events
TEST(Profiler, RecordsEveryNodeOfBackwardCallsWhileItIsOn) {
  const Tensor x = leaf({1, 2});
  const auto run = [&] { backward({sum(mul(x, x))}); };
  run();
  const std::size_t outer = Profiler::start();
  run();
  const double between = Profiler::now();
  const std::size_t inner = Profiler::start();
  run();
  const std::vector<ProfilerEvent> second = Profiler::stop(inner);
  const std::vector<ProfilerEvent> both = Profiler::stop(outer);
  run();
  ASSERT_EQ(second.size(), 3U);
  ASSERT_EQ(both.size(), 6U);
  EXPECT_EQ(second[0].name, "SumBackward0");
  EXPECT_EQ(second[1].name, "MulBackward0");
  EXPECT_EQ(second[2].sequence_nr, kAccumulateGradSequenceNr);
  EXPECT_GE(between, both[2].start + both[2].duration);
  EXPECT_LE(between, second[0].start);
  for (std::size_t i = 1; i < both.size(); ++i) {
    EXPECT_GE(both[i].start, both[i - 1].start + both[i - 1].duration);
    EXPECT_GE(both[i].duration, 0);
    EXPECT_EQ(both[i].thread, both[0].thread);
  }
}

}  // namespace
}  // namespace eg
