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

/// The mode at some time.
struct AnomalySettings {
  bool enabled;
  /// Results of nodes are searched for NaN; says something only while the mode is on.
  bool check_nan;
};

class AnomalyMode {
 public:
  /// The mode that was set, or that of a call that runs now and began in it.
  static bool is_enabled() { return enabled_.load() || calls_.load() > 0; }
  static bool should_check_nan();
  /// What was set.
  static AnomalySettings settings() { return {enabled_.load(), check_nan_.load()}; }
  static void set_enabled(bool enabled, bool check_nan = true);

 private:
  friend class AnomalyCallGuard;

  // Read for every node.
  template <class T>
  struct Relaxed : std::atomic<T> {
    using std::atomic<T>::atomic;
    T load() const { return std::atomic<T>::load(std::memory_order_relaxed); }
    void store(T value) { std::atomic<T>::store(value, std::memory_order_relaxed); }
  };

  static Relaxed<bool> enabled_;
  static Relaxed<bool> check_nan_;
  // Calls that run later than the mode they began in, and those of them that search for NaN.
  static Relaxed<int> calls_;
  static Relaxed<int> searching_calls_;
};

/// Runs a call in the mode that it began in, which may have ended since. As the mode is one switch
/// for all threads, what others run meanwhile is in it, too.
class AnomalyCallGuard {
 public:
  explicit AnomalyCallGuard(AnomalySettings settings);
  ~AnomalyCallGuard();
  AnomalyCallGuard(const AnomalyCallGuard&) = delete;
  AnomalyCallGuard& operator=(const AnomalyCallGuard&) = delete;

 private:
  AnomalySettings settings_;
};

/// Sets the mode for a scope and restores what was before.
class AnomalyModeGuard {
 public:
  explicit AnomalyModeGuard(bool enabled, bool check_nan = true);
  ~AnomalyModeGuard();
  AnomalyModeGuard(const AnomalyModeGuard&) = delete;
  AnomalyModeGuard& operator=(const AnomalyModeGuard&) = delete;

 private:
  AnomalySettings before_;
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
