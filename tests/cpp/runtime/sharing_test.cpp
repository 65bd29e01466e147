// markers: threads

#include "base/sharing.h"

#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace eg {
namespace {

constexpr int kThreads = 4;
constexpr int kTimes = 1000;

template <class Body>
void on_threads(Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(body);
  for (std::thread& thread : threads) thread.join();
}

TEST(SharedCount, CountsWhatAllThreadsAdd) {
  if (!objects_are_shared()) GTEST_SKIP() << "no threads";
  SharedCount<std::int64_t> count;
  on_threads([&] {
    for (int i = 0; i < kTimes; ++i) {
      count.increment();
      count.add(2);
      count.add(-1);
    }
  });
  EXPECT_EQ(count.load(), 2 * kThreads * kTimes);
}

TEST(SharedCount, DoesNotComeBackFromZero) {
  SharedCount<std::uint32_t> count(1);
  EXPECT_TRUE(count.increment_unless_zero());
  EXPECT_EQ(count.add(-2U), 0U);
  EXPECT_FALSE(count.increment_unless_zero());
  EXPECT_EQ(count.load(), 0U);
}

TEST(SharedClaim, BelongsToTheFirstUntilThatLeaves) {
  int first = 0;
  int second = 0;
  SharedClaim<int> claim;
  EXPECT_TRUE(claim.take(&first));
  EXPECT_FALSE(claim.take(&second));
  claim.leave(&second);
  EXPECT_EQ(claim.owner(), &first);
  claim.leave(&first);
  EXPECT_TRUE(claim.take(&second));
}

}  // namespace
}  // namespace eg
