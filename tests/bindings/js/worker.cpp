#include "js/worker.h"

#include <atomic>
#include <bit>
#include <condition_variable>
#include <map>
#include <mutex>

#include <gtest/gtest.h>
#include <pthread.h>

#include "js/native.h"
#include "js/realm.h"
#include "terminated_thread.h"

namespace eg::testing::js {

struct Worker::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<EventLoop> loop;
  bool is_over = false;
  int waiting_jobs = 0;
};

namespace {

// The state that workers share with the threads that started them, by thread. A thread may get here
// before its starter does.
struct Threads {
  std::mutex mutex;
  std::map<std::uintptr_t, std::shared_ptr<void>> shared;
};

Threads& threads() {
  static auto* const all = new Threads;
  return *all;
}

template <class T>
std::shared_ptr<T> shared_of(std::uintptr_t thread) {
  Threads& all = threads();
  const std::scoped_lock lock(all.mutex);
  std::shared_ptr<void>& shared = all.shared[thread];
  if (shared == nullptr) shared = std::make_shared<T>();
  return std::static_pointer_cast<T>(shared);
}

void forget(std::uintptr_t thread) {
  Threads& all = threads();
  const std::scoped_lock lock(all.mutex);
  all.shared.erase(thread);
}

std::uintptr_t this_thread() { return std::bit_cast<std::uintptr_t>(pthread_self()); }

}  // namespace

Worker::Worker() : thread_(native::startThread()) {
  if (thread_ < 0) throw Thrown{take_error()};
  shared_ = shared_of<Shared>(static_cast<std::uintptr_t>(thread_));
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait(lock, [&] { return shared_->loop != nullptr; });
}

Worker::~Worker() {
  if (thread_ == 0) return;
  run([] {
    native::leaveThread();
    Realm::own().loop().end();
  });
  end();
}

void Worker::die() {
  native::threadDied(thread_);
  shared_->loop->end();
  end();
  thread_ = 0;
}

void Worker::end() {
  {
    std::unique_lock lock(shared_->mutex);
    shared_->changed.wait(lock, [&] { return shared_->is_over; });
  }
  native::threadDied(thread_);
  native::releaseHandlesOf(thread_);
}

void Worker::run(std::function<void()> job) {
  {
    const std::scoped_lock lock(shared_->mutex);
    ++shared_->waiting_jobs;
  }
  const auto starter = Realm::own().shared_loop();
  shared_->loop->post([job = std::move(job), shared = shared_, starter] {
    try {
      job();
    } catch (const Thrown& thrown) {
      ADD_FAILURE() << "A worker threw " << described(thrown.value);
    }
    {
      const std::scoped_lock lock(shared->mutex);
      --shared->waiting_jobs;
    }
    starter->post([] {});
  });
}

void Worker::wait() {
  Realm::own().loop().run_until([&] {
    const std::scoped_lock lock(shared_->mutex);
    return shared_->waiting_jobs == 0;
  });
}

void Worker::started() {
  const auto shared = shared_of<Shared>(this_thread());
  {
    const std::scoped_lock lock(shared->mutex);
    shared->loop = Realm::own().shared_loop();
  }
  shared->changed.notify_all();
}

void Worker::over() {
  Realm::own().end();
  const auto shared = shared_of<Shared>(this_thread());
  forget(this_thread());
  {
    const std::scoped_lock lock(shared->mutex);
    shared->is_over = true;
  }
  shared->changed.notify_all();
}

}  // namespace eg::testing::js

namespace eg::bindings {

// Natively no thread is terminated.
void* thread_locals() { return nullptr; }
void end_terminated(std::uintptr_t /*thread*/, void* /*thread_locals*/) {}

}  // namespace eg::bindings
