#pragma once

// Finds the operation that made backward fail.
//
// While the mode is on, every node remembers where in the program it was made and which node was
// running at that time (its parent: a backward call with create_graph makes nodes too). If a node
// fails during a backward call made in the mode, or with check_nan returns a NaN, that trace is
// reported as a warning before the error reaches the caller. The mode is one switch for all
// threads.

#include <atomic>
#include <string>

#include "autograd/hooks/hooks.h"

namespace eg {

class Node;

/// Where a node was made.
struct AnomalyMetadata {
  /// The program's stack when the node was made; empty if unknown.
  std::string forward_stack;
  /// The node that was running when this one was made, or null.
  IntrusivePtr<Node> parent;
};

/// A snapshot of the mode.
struct AnomalySettings {
  bool enabled;
  /// Whether results of nodes are checked for NaN; only used while the mode is on.
  bool check_nan;
};

class AnomalyMode {
 public:
  /// Returns true if the mode is set, or a running call began in the mode.
  static bool is_enabled() { return enabled_.load() || calls_.load() > 0; }
  static bool should_check_nan();
  /// The settings of set_enabled(), without those of calls.
  static AnomalySettings settings() { return {enabled_.load(), check_nan_.load()}; }
  static void set_enabled(bool enabled, bool check_nan = true);

 private:
  friend class AnomalyCallGuard;

  // Relaxed, because it is read for every node.
  template <class T>
  struct Relaxed : std::atomic<T> {
    using std::atomic<T>::atomic;
    T load() const { return std::atomic<T>::load(std::memory_order_relaxed); }
    void store(T value) { std::atomic<T>::store(value, std::memory_order_relaxed); }
  };

  static Relaxed<bool> enabled_;
  static Relaxed<bool> check_nan_;
  // The number of running calls that began in the mode, and how many of them check for NaN.
  static Relaxed<int> calls_;
  static Relaxed<int> searching_calls_;
};

/// Runs a call in the mode that it began in, which may have been switched off since. As the mode is
/// one switch for all threads, it applies to the other threads too during the call.
class AnomalyCallGuard {
 public:
  explicit AnomalyCallGuard(AnomalySettings settings);
  ~AnomalyCallGuard();
  AnomalyCallGuard(const AnomalyCallGuard&) = delete;
  AnomalyCallGuard& operator=(const AnomalyCallGuard&) = delete;

 private:
  AnomalySettings settings_;
};

/// Sets the mode for a scope and then restores the previous one.
class AnomalyModeGuard {
 public:
  explicit AnomalyModeGuard(bool enabled, bool check_nan = true);
  ~AnomalyModeGuard();
  AnomalyModeGuard(const AnomalyModeGuard&) = delete;
  AnomalyModeGuard& operator=(const AnomalyModeGuard&) = delete;

 private:
  AnomalySettings before_;
};

/// Sets the function that describes the program's stack; null for none. Returns the previous one.
using StackCapture = std::string (*)();
StackCapture set_stack_capture(StackCapture capture);

/// Returns the metadata for a node that is being made.
AnomalyMetadata capture_anomaly_metadata();

/// Emits a warning that says where the failed node `fn` and its parents were made.
void warn_anomaly_trace(const Node& fn);

/// Throws AnomalyNan when an output of `fn` contains a NaN.
void check_nan_outputs(const Node& fn, const GradList& outputs);

}  // namespace eg
