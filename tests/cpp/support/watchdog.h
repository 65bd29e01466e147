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
  /// `more` is how many seconds the scope lasts on purpose.
  explicit Watchdog(int more = 0) : thread_([this, more] { watch(kMostSeconds + more); }) {}
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
  // Only a deadlock takes as long, also under sanitizers on a busy machine.
  static constexpr int kMostSeconds = 300;

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
