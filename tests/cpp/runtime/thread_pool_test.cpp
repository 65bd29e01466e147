// markers: threads, no-device

#include "runtime/thread_pool.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#ifdef __EMSCRIPTEN_PTHREADS__
#include <emscripten/proxying.h>
#include <emscripten/threading.h>
#endif

namespace eg {
namespace {

/// Sets the number of threads for one test and ends the helpers afterwards.
class Threads {
 public:
  explicit Threads(int count) { set_num_threads(count); }
  ~Threads() {
    shutdown_thread_pool();
    set_num_threads(1);
  }
};

constexpr std::int64_t kCount = 1000;

/// Only a test that fails waits as long, also on a busy machine.
constexpr std::chrono::seconds kMostWaiting{120};

/// Returns how often each index of [0, kCount) was visited.
std::vector<int> visits(std::int64_t grain) {
  std::vector<int> seen(kCount, 0);
  parallel_for(0, kCount, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
  });
  return seen;
}

// Short work wakes no helper, and a helper that runs instead of its caller goes to sleep.
TEST(ThreadPool, DoesShortAndLongWorkWhileHelpersSleep) {
  const Threads guard(3);
  for (int round = 0; round < 5; ++round) {
    for (const std::int64_t grain : {kCount / 2, kCount / 16, std::int64_t{1}}) {
      EXPECT_EQ(visits(grain), std::vector<int>(kCount, 1)) << grain;
      std::this_thread::sleep_for(std::chrono::milliseconds(3));  // timer: helpers fall asleep
    }
  }
}

TEST(ThreadPool, VisitsEveryIndexOnceForEveryThreadCountAndGrain) {
  for (const int threads : {1, 2, 3, 4, 8}) {
    const Threads guard(threads);
    for (const std::int64_t grain : {-1, 0, 1, 7, 999, 1000, 5000}) {
      EXPECT_EQ(visits(grain), std::vector<int>(kCount, 1)) << threads << " threads, " << grain;
    }
  }
}

TEST(ThreadPool, DoesNothingForAnEmptyRange) {
  const Threads guard(2);
  parallel_for(3, 3, 1, [](std::int64_t, std::int64_t) { FAIL(); });
  parallel_for(3, 2, 1, [](std::int64_t, std::int64_t) { FAIL(); });
}

TEST(ThreadPool, GivesNoRangeShorterThanTheGrainButTheLast) {
  const Threads guard(4);
  std::atomic<int> short_ranges{0};
  parallel_for(0, 103, 10, [&](std::int64_t begin, std::int64_t end) {
    if (end - begin < 10 && end != 103) ++short_ranges;
  });
  EXPECT_EQ(short_ranges, 0);
}

TEST(ThreadPool, RunsASmallRangeOnceOnTheCaller) {
  const Threads guard(4);
  int calls = 0;
  parallel_for(5, 15, 10, [&](std::int64_t begin, std::int64_t end) {
    ++calls;
    EXPECT_EQ(begin, 5);
    EXPECT_EQ(end, 15);
    EXPECT_FALSE(in_parallel_region());
  });
  EXPECT_EQ(calls, 1);
}

TEST(ThreadPool, RunsInlineInsideABody) {
  const Threads guard(4);
  if (num_threads() == 1) GTEST_SKIP() << "this build has no threads";
  std::atomic<int> inner_calls{0};
  parallel_for(0, 16, 1, [&](std::int64_t begin, std::int64_t end) {
    EXPECT_TRUE(in_parallel_region());
    for (std::int64_t i = begin; i < end; ++i) {
      const auto outer = std::this_thread::get_id();
      parallel_for(0, 100, 1, [&](std::int64_t b, std::int64_t e) {
        EXPECT_EQ(e - b, 100);
        EXPECT_EQ(std::this_thread::get_id(), outer);
        ++inner_calls;
      });
    }
  });
  EXPECT_EQ(inner_calls, 16);
  EXPECT_FALSE(in_parallel_region());
}

TEST(ThreadPool, HelpersTakePart) {
  const Threads guard(2);
  if (num_threads() == 1) GTEST_SKIP() << "this build has no threads";
  start_thread_pool();
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> helped{false};
  using Clock = std::chrono::steady_clock;
  const auto over = Clock::now() + kMostWaiting;
  // Repeated, because no helper is woken for a while after one that had no free core.
  while (!helped && Clock::now() < over) {
    const auto end = Clock::now() + std::chrono::milliseconds(20);
    parallel_for(0, 2, 1, [&](std::int64_t, std::int64_t) {
      if (std::this_thread::get_id() != caller) helped = true;
      // The caller holds its chunk until a helper has taken the other one.
      while (!helped && Clock::now() < end) std::this_thread::yield();
    });
  }
  EXPECT_TRUE(helped);
}

#ifdef __EMSCRIPTEN_PTHREADS__

void run_on_main_thread(em_proxying_queue* queue, void (*function)(void*), void* argument) {
  emscripten_proxy_sync(queue, emscripten_main_runtime_thread_id(), function, argument);
}

// As for a part of the engine, which only the main thread can load (bindings/parts.cpp).
TEST(ThreadPool, HelpersAreAnsweredByAMainThreadThatWaitsForThem) {
  const Threads guard(2);
  start_thread_pool();
  std::atomic<bool> was_answered{false};
  const auto work_on_main_thread = [](void* argument) {
    using Clock = std::chrono::steady_clock;
    auto& was_answered = *static_cast<std::atomic<bool>*>(argument);
    const auto over = Clock::now() + kMostWaiting;
    while (!was_answered && Clock::now() < over) {
      std::atomic<bool> is_helping{false};
      const auto end = Clock::now() + std::chrono::milliseconds(20);
      parallel_for(0, 2, 1, [&](std::int64_t, std::int64_t) {
        if (emscripten_is_main_runtime_thread()) {
          while (!is_helping && Clock::now() < end) std::this_thread::yield();
          return;
        }
        is_helping = true;
        // By then, the main thread does not spin any more.
        const auto asleep = Clock::now() + std::chrono::milliseconds(5);
        while (Clock::now() < asleep) std::this_thread::yield();
        run_on_main_thread(
            emscripten_proxy_get_system_queue(),
            [](void* answer) { *static_cast<std::atomic<bool>*>(answer) = true; }, argument);
      });
    }
  };
  // Another queue: during a task of the system's queue, its other tasks wait.
  em_proxying_queue* const queue = em_proxying_queue_create();
  run_on_main_thread(queue, work_on_main_thread, &was_answered);
  em_proxying_queue_destroy(queue);
  EXPECT_TRUE(was_answered);
}

#endif

TEST(ThreadPool, RethrowsOneExceptionAfterAllRangesEnded) {
  for (const int threads : {1, 2, 4}) {
    const Threads guard(threads);
    std::atomic<int> running{0};
    for (int round = 0; round < 50; ++round) {
      std::string message;
      try {
        parallel_for(0, 64, 1, [&](std::int64_t begin, std::int64_t) {
          ++running;
          if (begin % 3 == 0) {
            --running;
            throw std::runtime_error("range failed");
          }
          --running;
        });
      } catch (const std::runtime_error& error) {
        message = error.what();
        EXPECT_EQ(running, 0);
      }
      EXPECT_EQ(message, "range failed");
      EXPECT_FALSE(in_parallel_region());
    }
    EXPECT_EQ(visits(1), std::vector<int>(kCount, 1));
  }
}

#if EG_THREADS
TEST(ThreadPool, ServesSeveralCallersAtOnce) {
  const Threads guard(3);
  std::atomic<std::int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        parallel_for(0, 100, 1, [&](std::int64_t begin, std::int64_t end) {
          std::int64_t part = 0;
          for (std::int64_t i = begin; i < end; ++i) part += i;
          sum.fetch_add(part, std::memory_order_relaxed);
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 6 * 200 * 4950);
}
#endif

TEST(ThreadPool, StartsAgainAfterShutdown) {
  for (int round = 0; round < 20; ++round) {
    const Threads guard(1 + round % 4);
    EXPECT_EQ(visits(1), std::vector<int>(kCount, 1));
  }
}

#if EG_THREADS
TEST(ThreadPool, ShutsDownWhileOthersCall) {
  const Threads guard(3);
  std::atomic<bool> stop{false};
  std::thread caller([&] {
    while (!stop) EXPECT_EQ(visits(10), std::vector<int>(kCount, 1));
  });
  for (int round = 0; round < 20; ++round) {
    std::this_thread::yield();
    shutdown_thread_pool();
  }
  stop = true;
  caller.join();
}
#endif

TEST(ThreadPool, FewerThreadsTakePartAfterTheCountSank) {
  const Threads guard(4);
  EXPECT_EQ(visits(1), std::vector<int>(kCount, 1));
  set_num_threads(1);
  EXPECT_EQ(num_threads(), 1);
  parallel_for(0, 100, 1,
               [](std::int64_t begin, std::int64_t end) { EXPECT_EQ(end - begin, 100); });
  set_num_threads(-3);
  EXPECT_EQ(num_threads(), 1);
}

}  // namespace
}  // namespace eg
