#include "runtime/background.h"

#include <utility>

#if EG_THREADS

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "base/heap/pool.h"
#include "base/parts.h"
#include "base/sharing.h"
#include "base/thread.h"

namespace eg {
namespace {

class IdleThreads {
 public:
  static IdleThreads& instance() {
    // Never destroyed: its threads outlive static destructors.
    static auto* const threads = new IdleThreads;
    return *threads;
  }

  void run(const char* caller, std::function<void()> work) {
    std::unique_lock lock(mutex_);
    // Waiting work counts against the idle threads, because a notified thread has not woken up yet.
    if (idle_ <= static_cast<int>(waiting_.size())) {
      lock.unlock();
      try {
        share_objects();
        start_thread(caller, [this, work]() mutable { serve(std::move(work)); }).detach();
        count_.fetch_add(1);
        return;
      } catch (const Error&) {
        if (count() == 0) throw;
      }
      lock.lock();
    }
    waiting_.push_back(std::move(work));
    ready_.notify_one();
  }

  int count() const { return count_.load(); }

 private:
  void serve(std::function<void()> work) {
    for (;;) {
      work();
      work = nullptr;
      // Returns the memory that `work` freed but other threads had allocated.
      release_pools();
      std::unique_lock lock(mutex_);
      ++idle_;
      ready_.wait(lock, [&] { return !waiting_.empty(); });
      --idle_;
      // Even moving the work may call a function of its own.
      catch_up_with_parts();
      work = std::move(waiting_.back());
      waiting_.pop_back();
    }
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<std::function<void()>> waiting_;
  int idle_ = 0;
  std::atomic<int> count_{0};
};

}  // namespace

void run_in_background(const char* caller, std::function<void()> work) {
  IdleThreads::instance().run(caller, std::move(work));
}

int background_thread_count() { return IdleThreads::instance().count(); }

}  // namespace eg

#else

namespace eg {

void run_in_background(const char* /*caller*/, std::function<void()> work) { work(); }

int background_thread_count() { return 0; }

}  // namespace eg

#endif
