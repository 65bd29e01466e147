#include "runtime/background.h"

#include <utility>

#if EG_THREADS

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

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
    waiting_.push_back(std::move(work));
    if (has_room()) provide_thread(lock, caller, waiting_);
  }

  void run_now(const char* caller, std::function<void()> work) {
    std::unique_lock lock(mutex_);
    urgent_.push_back(std::move(work));
    provide_thread(lock, caller, urgent_);
  }

  int count() const { return count_.load(); }

  // A thread of the pool waits for another one.
  void waits_long() override {
    std::unique_lock lock(mutex_);
    --busy_;
    if (waiting_.empty() || !has_room()) return;
    try {
      provide_thread(lock, "backwardAsync", waiting_);
    } catch (const std::exception&) {
      // The work waits for one of the other threads.
    }
  }
  void goes_on() override {
    const std::scoped_lock lock(mutex_);
    ++busy_;
  }

 private:
  using Queue = std::deque<std::function<void()>>;

  int queued() const { return static_cast<int>(waiting_.size() + urgent_.size()); }
  bool has_room() const { return busy_ + starting_ < limit_; }
  bool has_next() const { return !urgent_.empty() || (!waiting_.empty() && busy_ < limit_); }

  // Wakes or starts a thread for the last work of a queue. If that is impossible and there is no
  // other thread, removes the work and throws. The lock is not held while a thread is started,
  // because a browser may let this thread wait for others.
  void provide_thread(std::unique_lock<std::mutex>& lock, const char* caller, Queue& queue) {
    // A notified thread has not woken up yet, so queued work counts against the idle threads.
    if (idle_ + starting_ >= queued()) {
      ready_.notify_one();
      return;
    }
    ++starting_;
    ++count_;
    lock.unlock();
    try {
      share_objects();
      start_thread_with_inbox(caller, [this] { serve(); }).detach();
    } catch (const std::exception&) {
      lock.lock();
      --starting_;
      if (--count_ > 0) return;
      queue.pop_back();
      throw;
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
      std::function<void()> work = std::move(queue.front());
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
