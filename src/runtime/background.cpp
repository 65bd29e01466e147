#include "runtime/background.h"

#include <utility>

#if EG_THREADS

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/heap/pool.h"
#include "base/parts.h"
#include "base/sharing.h"
#include "runtime/inbox.h"

namespace eg {
namespace {

// A thread that has had no work for so long ends.
constexpr std::chrono::seconds kIdleTime{2};

class BackgroundThreads final : public WaitListener {
 public:
  static BackgroundThreads& instance() {
    // Never destroyed: its threads outlive static destructors.
    static auto* const threads = new BackgroundThreads;
    return *threads;
  }

  void run(const char* caller, std::function<void()> work) {
    std::unique_lock lock(mutex_);
    waiting_.push_back({++last_number_, std::move(work)});
    if (idle_ > 0) ready_.notify_one();
    if (idle_ + busy_ + starting_ >= limit_) return;
    const std::uint64_t number = last_number_;
    try {
      provide_thread(lock, caller);
    } catch (const Error&) {
      // At the limit of threads, the work waits for one of the others.
      if (count_.load() == 0 && take_back(waiting_, number)) throw;
    } catch (...) {
      if (take_back(waiting_, number)) throw;
    }
  }

  void run_now(const char* caller, std::function<void()> work) {
    std::unique_lock lock(mutex_);
    urgent_.push_back({++last_number_, std::move(work)});
    const std::uint64_t number = last_number_;
    try {
      provide_thread(lock, caller);
    } catch (...) {
      if (take_back(urgent_, number)) throw;
    }
  }

  int count() const { return count_.load(); }

  // A thread of the pool waits for another one.
  void waits_long() override {
    std::unique_lock lock(mutex_);
    --busy_;
    if (waiting_.empty() || busy_ + starting_ >= limit_) return;
    // If there can be no further thread, the work waits for one of the others.
    (void)try_provide_thread(lock);
  }
  void goes_on() override {
    const std::scoped_lock lock(mutex_);
    ++busy_;
  }

 private:
  struct Work {
    std::uint64_t number;
    std::function<void()> run;
  };
  using Queue = std::deque<Work>;

  int queued() const { return static_cast<int>(waiting_.size() + urgent_.size()); }
  bool has_next() const { return !urgent_.empty() || (!waiting_.empty() && busy_ < limit_); }

  // Removes a work from its queue; returns false if a thread has taken it.
  static bool take_back(Queue& queue, std::uint64_t number) {
    return std::erase_if(queue, [&](const Work& work) { return work.number == number; }) > 0;
  }

  // Wakes or starts a thread for work that was queued. Throws if that is impossible. The lock is
  // not held while a thread is started, because a browser may let this thread wait for others.
  void provide_thread(std::unique_lock<std::mutex>& lock, const char* caller) {
    // A notified thread has not woken up yet, so queued work counts against the idle threads.
    if (idle_ >= queued()) {
      ready_.notify_one();
      return;
    }
    ++starting_;
    ++count_;
    lock.unlock();
    try {
      share_objects();
      start_thread_with_inbox(caller, [this] { serve(); }).detach();
    } catch (...) {
      lock.lock();
      --starting_;
      --count_;
      throw;
    }
  }

  bool try_provide_thread(std::unique_lock<std::mutex>& lock) {
    try {
      provide_thread(lock, "backwardAsync");
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  void serve() {
    set_wait_listener(this);
    std::unique_lock lock(mutex_);
    --starting_;
    for (;;) {
      ++idle_;
      const bool has_work = ready_.wait_for(lock, kIdleTime, [&] { return has_next(); });
      --idle_;
      if (!has_work) {
        --count_;
        return;
      }
      ++busy_;
      // Even moving the work may call a function of its own.
      catch_up_with_parts();
      Queue& queue = urgent_.empty() ? waiting_ : urgent_;
      std::function<void()> work = std::move(queue.front().run);
      queue.pop_front();
      lock.unlock();
      work();
      work = nullptr;
      // Returns the memory that `work` freed but other threads had allocated.
      release_pools();
      lock.lock();
      --busy_;
    }
  }

  const int limit_ = std::max(2, static_cast<int>(std::thread::hardware_concurrency()));
  std::mutex mutex_;
  std::condition_variable ready_;
  Queue waiting_;
  // For which a thread waits.
  Queue urgent_;
  std::uint64_t last_number_ = 0;
  // Threads without work; those that run work and do not wait long for other threads; and those
  // that do not run yet.
  int idle_ = 0;
  int busy_ = 0;
  int starting_ = 0;
  std::atomic<int> count_{0};
};

}  // namespace

void run_in_background(const char* caller, std::function<void()> work) {
  BackgroundThreads::instance().run(caller, std::move(work));
}

void run_in_background_now(const char* caller, std::function<void()> work) {
  BackgroundThreads::instance().run_now(caller, std::move(work));
}

int background_thread_count() { return BackgroundThreads::instance().count(); }

}  // namespace eg

#else

namespace eg {

void run_in_background(const char* /*caller*/, std::function<void()> work) { work(); }

void run_in_background_now(const char* /*caller*/, std::function<void()> work) { work(); }

int background_thread_count() { return 0; }

}  // namespace eg

#endif
