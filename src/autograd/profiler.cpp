#include "autograd/profiler.h"

#include <mutex>

#include "autograd/node.h"

namespace eg {
namespace {

using Clock = std::chrono::steady_clock;

struct Recorded {
  std::mutex mutex;
  std::vector<ProfilerEvent> events;
  Clock::time_point origin;
};

Recorded& recorded() {
  static auto* const all = new Recorded;
  return *all;
}

int this_thread_number() {
  static std::atomic<int> next{0};
  static thread_local const int number = next.fetch_add(1);
  return number;
}

double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

}  // namespace

std::atomic<int> Profiler::recordings_{0};

std::size_t Profiler::start() {
  Recorded& all = recorded();
  const std::scoped_lock lock(all.mutex);
  if (recordings_.fetch_add(1) == 0) {
    all.events.clear();
    all.origin = Clock::now();
  }
  return all.events.size();
}

std::vector<ProfilerEvent> Profiler::stop(std::size_t first) {
  Recorded& all = recorded();
  const std::scoped_lock lock(all.mutex);
  recordings_.fetch_sub(1);
  return {all.events.begin() + static_cast<std::ptrdiff_t>(first), all.events.end()};
}

void ProfilerScope::begin(const Node& node) {
  node_ = &node;
  start_ = Clock::now();
}

void ProfilerScope::end() const {
  const Clock::time_point now = Clock::now();
  Recorded& all = recorded();
  const std::scoped_lock lock(all.mutex);
  all.events.push_back({node_->name(), node_->sequence_nr(), this_thread_number(), node_->device(),
                        microseconds(start_ - all.origin), microseconds(now - start_)});
}

}  // namespace eg
