#pragma once

// One backward call: what is still to be done, and what has come of it.
//
// compute_dependencies() walks the graph once and gives every node it can reach an entry with the
// number of edges that lead to it. An entry that has received all its gradients is ready. The call
// is complete when no task is outstanding: every push counts one up, every popped task one down
// after it has pushed its followers, so the count cannot touch zero early.
//
// Entries are found by an index stored in the node, not by hashing: a call claims the nodes it
// visits. Two calls over a shared graph cannot both hold the claim; the later one falls back to a
// map for those nodes.

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "autograd/engine/input_buffer.h"
#include "autograd/grad_mode.h"
#include "autograd/graph/node.h"
#include "base/warning.h"
#include "runtime/inbox.h"
#include "runtime/recorded_thread.h"

namespace eg {

class ReadyQueue;

/// The device index of a thread: an accelerator's number, or one of these.
inline constexpr int kNoDevice = -2;   ///< not an engine thread
inline constexpr int kCpuDevice = -1;  ///< a thread that is inside a backward call of its own

/// A gradient that grad() asked for: slot `input_idx` of a node goes to result `output_idx`.
struct Capture {
  std::uint32_t input_idx;
  std::uint32_t output_idx;
};

/// What a backward call knows about one node.
struct NodeState {
  IntrusivePtr<Node> fn;
  std::uint32_t dependencies = 0;  ///< edges that have not delivered yet
  bool needed = false;             ///< lies between a root and something asked for
  bool has_captures = false;
  InputBuffer inputs;

  bool should_execute() const { return needed || has_captures; }
};

class GraphTask final : public RefCounted {
 public:
  GraphTask(bool keep_graph, bool create_graph, int reentrant_depth,
            std::shared_ptr<ReadyQueue> cpu_ready_queue, bool exit_on_error = false);
  ~GraphTask();
  static void on_last_release(GraphTask* task);

  /// Counts the edges into every node reachable from `root` that lies above `min_topological_nr`.
  void compute_dependencies(const IntrusivePtr<Node>& root, std::uint64_t min_topological_nr);
  /// Restricts execution to what leads to `outputs`; captures their gradients unless they are to be
  /// accumulated.
  void init_to_execute(const IntrusivePtr<Node>& root, const EdgeList& outputs,
                       bool accumulate_grad, std::uint64_t min_topological_nr);

  /// The entry of a node, or null when the call did not reach it.
  NodeState* state_of(const Node& fn);
  /// True when this call runs (or captures at) `fn`.
  bool should_execute(const Node& fn);
  const std::vector<Capture>& captures_of(const Node& fn) const;
  /// True when some node belongs to an accelerator, so that several threads work for the call.
  bool has_device_nodes() const { return has_device_nodes_; }
  /// `mutex`, held if several threads work for the call.
  std::unique_lock<std::mutex> lock_if_shared() {
    return has_device_nodes_ ? std::unique_lock(mutex) : std::unique_lock<std::mutex>();
  }
  bool has_exec_info() const { return has_exec_info_; }
  std::size_t state_count() const { return states_.size(); }
  /// True when the call asks for the gradient of `fn` but does not run it.
  bool is_only_captured(const Node& fn);
  /// The node the call began with.
  const IntrusivePtr<Node>& root() const { return states_[0].fn; }
  /// True when this call and all around it run everything they reach.
  bool can_checkpoint() const { return !has_exec_info_ && outer_can_checkpoint_; }
  /// Entries that received some, not all, of their gradients.
  bool has_unfinished_states() const;

  bool completed() const {
    return outstanding_tasks.load() == 0 || (exit_on_error && has_error.load());
  }
  /// Records the first error of the call; later ones are dropped.
  void set_exception(std::exception_ptr error);
  /// Completes the call once: checks, final callbacks, result. Other callers return at once.
  void mark_as_completed();
  bool future_completed() const { return future_completed_.load(std::memory_order_acquire); }
  /// Waits for completion on the thread that made the call, when another one serves its queue; what
  /// only this thread can do, it does meanwhile (its Inbox).
  void wait();
  /// The captured gradients, or the error rethrown.
  GradList take_result();
  /// Keeps something as long as the call, however that ends.
  void keep(std::shared_ptr<void> something);
  /// Adds a function to run after all nodes, before the call returns.
  void add_final_callback(std::function<void()> callback);

  /// The call whose node this thread runs now, or null.
  static GraphTask* current();
  /// The node this thread runs now, or null.
  static Node* current_node();

  const std::uint64_t id;
  const bool keep_graph;
  const bool exit_on_error;
  const int reentrant_depth;
  int owner = kNoDevice;         ///< device index of the thread that made the call: whom to wake
  const void* caller = nullptr;  ///< that thread itself
  const AutogradState thread_state;
  Recording* const noted_in = recording();
  std::shared_ptr<ReadyQueue> cpu_ready_queue;
  std::atomic<std::int64_t> outstanding_tasks{0};
  std::atomic<bool> has_error{false};
  /// Guards the states and the captured gradients while several threads work for the call.
  std::mutex mutex;
  GradList captured_grads;
  /// Warnings from other threads than the caller.
  WarningCollector warnings;

 private:
  NodeState& claim(const IntrusivePtr<Node>& fn, bool& is_new);
  void run_final_callbacks();

  void release_states();

  std::vector<NodeState> states_;
  std::unordered_map<const Node*, std::uint32_t> unclaimed_;
  std::unordered_map<const Node*, std::vector<Capture>> captures_;
  bool has_exec_info_ = false;
  bool has_device_nodes_ = false;
  const bool outer_can_checkpoint_;

  std::mutex future_mutex_;
  std::shared_ptr<Inbox> waiter_;
  std::atomic<bool> completing_{false};
  std::atomic<bool> future_completed_{false};
  std::exception_ptr error_;

  std::mutex callbacks_mutex_;
  std::vector<std::function<void()>> final_callbacks_;
  std::vector<std::shared_ptr<void>> kept_;
};

/// Marks `task` and `node` as what this thread works on, for a scope.
class EvaluationGuard {
 public:
  EvaluationGuard(GraphTask* task, Node* node);
  ~EvaluationGuard();
  /// Moves on to another node of the same call.
  void set_node(Node* node);
  EvaluationGuard(const EvaluationGuard&) = delete;
  EvaluationGuard& operator=(const EvaluationGuard&) = delete;

 private:
  GraphTask* previous_task_;
  Node* previous_node_;
};

}  // namespace eg
