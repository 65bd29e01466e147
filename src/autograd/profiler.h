#pragma once

// Measures the cost of each node of a backward call.
//
// Profiling is one switch for all threads. While it is off, the cost is one relaxed load per node.

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
  /// Threads are numbered in the order of their first event.
  int thread = 0;
  Device device;
  /// Microseconds since the first of the recordings that overlap began, as by Profiler::now().
  double start = 0;
  double duration = 0;
  /// Microseconds that the device itself needed; -1 if unknown.
  double device_duration = -1;
};

class Profiler {
 public:
  static bool is_enabled() { return recordings_.load(std::memory_order_relaxed) > 0; }
  /// Begins a recording and returns the index of its first event. Recordings may overlap.
  static std::size_t start();
  /// The time now, in microseconds since the first of the recordings that overlap began.
  static double now();
  /// Ends the recording that began at `first` and returns its events in order of completion. Waits
  /// for devices that measure time.
  static std::vector<ProfilerEvent> stop(std::size_t first);

 private:
  static std::atomic<int> recordings_;
};

/// Records the run of a node from construction to destruction.
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
