// markers: threads

#include "runtime/background.h"

#include <algorithm>
#include <atomic>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

#include "runtime/inbox.h"

namespace eg {
namespace {

#if EG_THREADS

const int kMostBusy = std::max(2, static_cast<int>(std::thread::hardware_concurrency()));

TEST(Background, RunsNoMoreAtOnceThanThereAreCores) {
  constexpr int kWorks = 40;
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  std::latch done(kWorks);
  const int before = background_thread_count();
  for (int i = 0; i < kWorks; ++i) {
    run_in_background("test", [&] {
      const int now = ++running;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      // Others get a chance to run at the same time.
      for (int turn = 0; turn < 100; ++turn) std::this_thread::yield();
      --running;
      done.count_down();
    });
  }
  done.wait();
  EXPECT_LE(most, kMostBusy);
  EXPECT_LE(background_thread_count(), std::max(before, kMostBusy));
}

TEST(Background, RunsInTheOrderOfTheCalls) {
  std::atomic<int> next{0};
  std::atomic<int> late{0};
  std::latch begun(kMostBusy);
  std::latch may_go_on(1);
  std::latch done(kMostBusy + 10);
  for (int i = 0; i < kMostBusy; ++i) {
    run_in_background("test", [&] {
      begun.count_down();
      may_go_on.wait();
      done.count_down();
    });
  }
  begun.wait();
  for (int i = 0; i < 10; ++i) {
    run_in_background("test", [&, i] {
      // Several may begin at once, and overtake each other by as many.
      if (next++ + kMostBusy < i) ++late;
      done.count_down();
    });
  }
  may_go_on.count_down();
  done.wait();
  EXPECT_EQ(late, 0);
}

// The functions of this thread, which work of the pool calls, wait for other work of the pool.
TEST(Background, WorkThatWaitsForOthersGivesThemItsPlace) {
  const std::shared_ptr<Inbox> inbox = Inbox::current();
  const int waiting = 2 * kMostBusy;
  std::atomic<int> answered{0};
  std::atomic<bool> is_last_done{false};
  for (int i = 0; i < waiting; ++i) {
    run_in_background("test", [&, inbox] {
      inbox->call([] {});
      ++answered;
      inbox->wake();
    });
  }
  run_in_background("test", [&, inbox] {
    is_last_done = true;
    inbox->wake();
  });
  // Nothing is answered before the last work has run.
  while (!is_last_done) std::this_thread::yield();
  EXPECT_EQ(answered, 0);
  inbox->serve_until([&] { return answered == waiting; });
}

TEST(Background, WorkThatIsWaitedForRunsAtOnce) {
  std::latch begun(2 * kMostBusy);
  std::latch may_end(1);
  std::latch done(2 * kMostBusy);
  for (int i = 0; i < 2 * kMostBusy; ++i) {
    run_in_background_now("test", [&] {
      begun.count_down();
      may_end.wait();
      done.count_down();
    });
  }
  begun.wait();
  may_end.count_down();
  done.wait();
}

TEST(Background, ThreadsWithoutWorkEnd) {
  std::latch done(1);
  run_in_background("test", [&] { done.count_down(); });
  done.wait();
  while (background_thread_count() > 0) std::this_thread::yield();
  std::latch again(1);
  run_in_background("test", [&] { again.count_down(); });
  again.wait();
}

#endif

}  // namespace
}  // namespace eg
