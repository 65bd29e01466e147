#pragma once

// Finding the operation behind a failing backward.
//
// While the mode is on, every node remembers where in the program it was made, and which node was
// running then (its parent: backward under create_graph makes nodes too). When a node fails during
// a backward call made in the mode, or, with check_nan, returns a NaN, that trace is reported as a
// warning before the error goes to the caller. The mode is one switch for all threads.

#include <atomic>
#include <string>

#include "autograd/hooks/hooks.h"

namespace eg {

class Node;

/// Where a node came from.
struct AnomalyMetadata {
  /// The program's stack when the node was made; empty when nobody can tell.
  std::string forward_stack;
  /// The node that ran when this one was made, or null.
  IntrusivePtr<Node> parent;
};

class AnomalyMode {
 public:
  static bool is_enabled() { return enabled_.load(std::memory_order_relaxed); }
  /// True when results of nodes are searched for NaN; asked only while the mode is on.
  static bool should_check_nan() { return check_nan_.load(std::memory_order_relaxed); }
  static void set_enabled(bool enabled, bool check_nan = true);

 private:
  static std::atomic<bool> enabled_;
  static std::atomic<bool> check_nan_;
};

/// Sets the mode for a scope and restores what was before.
class AnomalyModeGuard {
 public:
  explicit AnomalyModeGuard(bool enabled, bool check_nan = true);
  ~AnomalyModeGuard();
  AnomalyModeGuard(const AnomalyModeGuard&) = delete;
  AnomalyModeGuard& operator=(const AnomalyModeGuard&) = delete;

 private:
  bool enabled_;
  bool check_nan_;
};

/// Sets the function that describes the program's stack, and returns the one before; null for none.
using StackCapture = std::string (*)();
StackCapture set_stack_capture(StackCapture capture);

/// What a node made now should remember.
AnomalyMetadata capture_anomaly_metadata();

/// Reports where the failed node `fn` and its parents were made.
void warn_anomaly_trace(const Node& fn);

/// Throws AnomalyNan when an output of `fn` contains a NaN.
void check_nan_outputs(const Node& fn, const GradList& outputs);

}  // namespace eg
