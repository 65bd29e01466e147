#include "autograd/profiler.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "autograd/graph/node.h"
#include "runtime/accelerator.h"

namespace eg {
namespace {

using Clock = std::chrono::steady_clock;

struct StampedEvent {
  ProfilerEvent event;
  // The slot of the device's timestamp of the start, which that of the end follows; -1 for none.
  int stamp;
};

struct Recorded {
  std::mutex mutex;
  std::vector<StampedEvent> events;
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
void add_device_times(std::vector<StampedEvent>& events) {
  const int last = std::ranges::max_element(events, {}, &StampedEvent::stamp)->stamp;
  if (last < 0) return;
  std::array<std::vector<std::uint64_t>, kDeviceTypeCount> times;
  for (auto& [event, stamp] : events) {
    if (stamp < 0) continue;
    std::vector<std::uint64_t>& known = times[static_cast<std::size_t>(event.device.type)];
    const auto slot = static_cast<std::size_t>(stamp);
    if (known.empty())
      known = accelerator(event.device).stamps(static_cast<std::uint32_t>(last) + 2);
    if (known.size() > slot + 1)
      event.device_duration = static_cast<double>(known[slot + 1] - known[slot]) / 1000;
  }
}

}  // namespace

std::atomic<int> Profiler::recordings_{0};

std::size_t Profiler::start() {
  Recorded& all = recorded();
  const std::scoped_lock lock(all.mutex);
  if (recordings_.fetch_add(1) == 0) {
    all.events.clear();
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
  std::vector<StampedEvent> stamped;
  {
    Recorded& all = recorded();
    const std::scoped_lock lock(all.mutex);
    recordings_.fetch_sub(1);
    stamped.assign(all.events.begin() + static_cast<std::ptrdiff_t>(first), all.events.end());
  }
  if (!stamped.empty()) add_device_times(stamped);
  std::vector<ProfilerEvent> events;
  events.reserve(stamped.size());
  for (StampedEvent& one : stamped) events.push_back(std::move(one.event));
  return events;
}

void ProfilerScope::begin(const Node& node) {
  node_ = &node;
  start_ = Clock::now();
  stamp_ = begin_stamp(node);
}

void ProfilerScope::end() const {
  const Clock::time_point now = Clock::now();
  // A profile with a gap is better than a destructor that throws.
  try {
    if (stamp_ >= 0) accelerator(node_->device()).stamp(static_cast<std::uint32_t>(stamp_) + 1);
    Recorded& all = recorded();
    const std::scoped_lock lock(all.mutex);
    all.events.push_back(
        {{node_->name(), node_->sequence_nr(), this_thread_number(), node_->device(),
          microseconds(start_ - all.origin), microseconds(now - start_)},
         stamp_});
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace eg
