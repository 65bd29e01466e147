#pragma once

// What each node of a backward call cost.
//
// Recording is one switch for all threads. While it is off, a node pays for one relaxed load.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace eg {

class Node;

/// One run of one node.
struct ProfilerEvent {
  std::string name;
  std::uint64_t sequence_nr = 0;
  /// Threads are numbered in the order in which they first recorded something.
  int thread = 0;
  Device device;
  /// Microseconds since the recording began.
  double start = 0;
  double duration = 0;
  /// Microseconds that the device itself took for it; -1 where that is not known.
  double device_duration = -1;
};

class Profiler {
 public:
  static bool is_enabled() { return recordings_.load(std::memory_order_relaxed) > 0; }
  /// Begins a recording and returns where its events will start. Recordings may overlap.
  static std::size_t start();
  /// Ends the recording that began at `first` and returns its events in the order of their ends.
  /// Waits for devices that have a clock.
  static std::vector<ProfilerEvent> stop(std::size_t first);

 private:
  static std::atomic<int> recordings_;
};

/// Records the run of a node from here to the end of the scope.
class ProfilerScope {
 public:
  explicit ProfilerScope(const Node& node) {
    if (Profiler::is_enabled()) [[unlikely]]
      begin(node);
  }
  ~ProfilerScope() {
    if (node_ != nullptr) [[unlikely]]
      end();
  }
  ProfilerScope(const ProfilerScope&) = delete;
  ProfilerScope& operator=(const ProfilerScope&) = delete;

 private:
  void begin(const Node& node);
  void end() const;

  const Node* node_ = nullptr;
  std::chrono::steady_clock::time_point start_;
  int stamp_ = -1;
};

}  // namespace eg
