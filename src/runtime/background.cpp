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
    // Queued work counts against the idle threads, because a notified thread has not woken up yet.
    const bool is_taken = idle_ > queued();
    if (!is_taken && has_room() && start(lock, caller, work)) return;
    waiting_.push_back(std::move(work));
    ready_.notify_one();
  }

  void run_now(const char* caller, std::function<void()> work) {
    std::unique_lock lock(mutex_);
    const bool is_taken = idle_ > queued();
    if (!is_taken && start(lock, caller, work)) return;
    urgent_.push_back(std::move(work));
    ready_.notify_one();
  }

  int count() const { return count_.load(); }

  // A thread of the pool waits for another one.
  void waits_long() override {
    std::unique_lock lock(mutex_);
    --busy_;
    if (waiting_.empty() || !has_room()) return;
    if (idle_ > 0) {
      ready_.notify_one();
      return;
    }
    std::function<void()> next = std::move(waiting_.front());
    waiting_.pop_front();
    if (!start(lock, "backwardAsync", next)) waiting_.push_front(std::move(next));
  }
  void goes_on() override {
    const std::scoped_lock lock(mutex_);
    ++busy_;
  }

 private:
  using Queue = std::deque<std::function<void()>>;

  int queued() const { return static_cast<int>(waiting_.size() + urgent_.size()); }
  bool has_room() const { return busy_ + starting_ < limit_; }
  bool has_next() const { return !urgent_.empty() || (!waiting_.empty() && has_room()); }

  // Starts a thread that begins with `work`. Returns false if that is impossible but other threads
  // exist. The lock is not held meanwhile, because a browser may let this thread wait for others.
  bool start(std::unique_lock<std::mutex>& lock, const char* caller,
             const std::function<void()>& work) {
    ++starting_;
    ++count_;
    lock.unlock();
    try {
      share_objects();
      start_thread_with_inbox(caller, [this, first = std::function<void()>(work)]() mutable {
        serve(std::move(first));
      }).detach();
      return true;
    } catch (const std::exception&) {
      lock.lock();
      --starting_;
      --count_;
      if (count_.load() == 0) throw;
      return false;
    }
  }

  void serve(std::function<void()> work) {
    set_wait_listener(this);
    {
      const std::scoped_lock lock(mutex_);
      --starting_;
      ++busy_;
    }
    for (;;) {
      work();
      work = nullptr;
      // Returns the memory that `work` freed but other threads had allocated.
      release_pools();
      std::unique_lock lock(mutex_);
      --busy_;
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
      work = std::move(queue.front());
      queue.pop_front();
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
