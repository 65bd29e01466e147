#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace eg::testing {

/// Ends the program when its scope lasts too long: a deadlock must fail, not hang.
class Watchdog {
 public:
  explicit Watchdog(int seconds) : thread_([this, seconds] { watch(seconds); }) {}
  ~Watchdog() {
    {
      const std::scoped_lock lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch(int seconds) {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, std::chrono::seconds(seconds), [&] { return done_; })) return;
    std::fprintf(stderr, "Watchdog: not done after %d seconds.\n", seconds);
    std::abort();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace eg::testing
