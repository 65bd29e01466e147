#include "autograd/profiler.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "autograd/graph/node.h"
#include "runtime/accelerator.h"

namespace eg {
namespace {

using Clock = std::chrono::steady_clock;

struct Recorded {
  std::mutex mutex;
  std::vector<ProfilerEvent> events;
  // Device timestamp slots: an event's start, followed by its end; -1 for none.
  std::vector<int> stamps;
  Clock::time_point origin;
  std::atomic<std::uint32_t> next_stamp{0};
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

// Makes the node's device record a timestamp when it starts the node; returns -1 if it cannot.
int begin_stamp(const Node& node) {
  if (node.device().is_cpu()) return -1;
  const std::uint32_t slot = recorded().next_stamp.fetch_add(2);
  const bool fits = slot + 1 < Accelerator::kMaxStamps;
  return fits && accelerator(node.device()).stamp(slot) ? static_cast<int>(slot) : -1;
}

// Queries how long the devices took.
void add_device_times(std::vector<ProfilerEvent>& events, const std::vector<int>& slots) {
  const int last = *std::max_element(slots.begin(), slots.end());
  if (last < 0) return;
  std::array<std::vector<std::uint64_t>, kDeviceTypeCount> times;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (slots[i] < 0) continue;
    std::vector<std::uint64_t>& known = times[static_cast<std::size_t>(events[i].device.type)];
    const auto slot = static_cast<std::size_t>(slots[i]);
    if (known.empty())
      known = accelerator(events[i].device).stamps(static_cast<std::uint32_t>(last) + 2);
    if (known.size() > slot + 1)
      events[i].device_duration = static_cast<double>(known[slot + 1] - known[slot]) / 1000;
  }
}

}  // namespace

std::atomic<int> Profiler::recordings_{0};

std::size_t Profiler::start() {
  Recorded& all = recorded();
  const std::scoped_lock lock(all.mutex);
  if (recordings_.fetch_add(1) == 0) {
    all.events.clear();
    all.stamps.clear();
    all.next_stamp = 0;
    all.origin = Clock::now();
  }
  return all.events.size();
}

double Profiler::now() {
  Recorded& all = recorded();
  const std::scoped_lock lock(all.mutex);
  return microseconds(Clock::now() - all.origin);
}

std::vector<ProfilerEvent> Profiler::stop(std::size_t first) {
  std::vector<ProfilerEvent> events;
  std::vector<int> slots;
  {
    Recorded& all = recorded();
    const std::scoped_lock lock(all.mutex);
    recordings_.fetch_sub(1);
    const auto from = static_cast<std::ptrdiff_t>(first);
    events.assign(all.events.begin() + from, all.events.end());
    slots.assign(all.stamps.begin() + from, all.stamps.end());
  }
  if (!events.empty()) add_device_times(events, slots);
  return events;
}

void ProfilerScope::begin(const Node& node) {
  node_ = &node;
  start_ = Clock::now();
  stamp_ = begin_stamp(node);
}

void ProfilerScope::end() const {
  const Clock::time_point now = Clock::now();
  if (stamp_ >= 0) accelerator(node_->device()).stamp(static_cast<std::uint32_t>(stamp_) + 1);
  Recorded& all = recorded();
  const std::scoped_lock lock(all.mutex);
  all.events.push_back({node_->name(), node_->sequence_nr(), this_thread_number(), node_->device(),
                        microseconds(start_ - all.origin), microseconds(now - start_)});
  all.stamps.push_back(stamp_);
}

}  // namespace eg
