#include "autograd/reentrant_pool.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace eg {

struct ReentrantPool::Shared {
  const Run run;
  std::mutex mutex;
  std::condition_variable work;
  // Weak: a call that failed meanwhile must not be kept alive by its place here.
  std::deque<WeakPtr<GraphTask>> tasks;
  std::size_t idle = 0;
  int started = 0;

  explicit Shared(Run run) : run(run) {}

  [[noreturn]] void serve() {
    for (;;) {
      WeakPtr<GraphTask> next;
      {
        std::unique_lock lock(mutex);
        ++idle;
        work.wait(lock, [&] { return !tasks.empty(); });
        --idle;
        next = std::move(tasks.front());
        tasks.pop_front();
      }
      if (const IntrusivePtr<GraphTask> task = next.lock()) run(task);
    }
  }
};

ReentrantPool::ReentrantPool(Run run) : shared_(std::make_shared<Shared>(run)) {}

ReentrantPool::~ReentrantPool() = default;

void ReentrantPool::submit(const IntrusivePtr<GraphTask>& task) {
  {
    const std::scoped_lock lock(shared_->mutex);
    // Compared before the push: an idle thread that has been notified still counts as idle.
    if (shared_->idle <= shared_->tasks.size()) {
      std::thread([shared = shared_] { shared->serve(); }).detach();
      ++shared_->started;
    }
    shared_->tasks.emplace_back(task);
  }
  shared_->work.notify_one();
}

int ReentrantPool::thread_count() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->started;
}

}  // namespace eg
