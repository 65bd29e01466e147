#include "js/event_loop.h"

#include <chrono>
#include <utility>

#include <gtest/gtest.h>

namespace eg::testing::js {
namespace {

// Only a test that fails waits as long, also under sanitizers on a busy machine.
constexpr std::chrono::seconds kMostWaiting{120};

}  // namespace

bool EventLoop::post(std::function<void()> task) {
  {
    const std::scoped_lock lock(mutex_);
    if (has_ended_) return false;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
  return true;
}

void EventLoop::run_until(const std::function<bool()>& done) {
  while (!done()) {
    const std::function<void()> task = next(kMostWaiting);
    if (task == nullptr) {
      ADD_FAILURE() << "An event loop waits for what never comes.";
      return;
    }
    task();
  }
}

std::function<void()> EventLoop::next(std::chrono::seconds most_waiting) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most_waiting, [&] { return !tasks_.empty() || has_ended_; });
  if (has_ended_ || tasks_.empty()) return nullptr;
  std::function<void()> task = std::move(tasks_.front());
  tasks_.pop_front();
  return task;
}

void EventLoop::run_pending() {
  bool has_come = false;
  post([&] { has_come = true; });
  run_until([&] { return has_come; });
}

void EventLoop::run() {
  while (const std::function<void()> task = next(std::chrono::hours(24))) task();
}

void EventLoop::end() {
  {
    const std::scoped_lock lock(mutex_);
    has_ended_ = true;
    tasks_.clear();
  }
  changed_.notify_all();
}

}  // namespace eg::testing::js
