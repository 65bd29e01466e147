#pragma once

// The state of one backward call.
//
// compute_dependencies() traverses the graph once and gives every reachable node an entry with the
// number of edges that lead to it. A node whose edges have all delivered their gradients is ready.
// The call is complete when no task is outstanding: every push increments the count, and every
// popped task decrements it after it has pushed its successors, so the count cannot reach zero
// early.
//
// Entries are found by an index stored in the node instead of a hash lookup: a call claims the
// nodes it visits. Two calls over a shared graph cannot both hold the claim; the later one falls
// back to a map for those nodes.

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "autograd/engine/async_call.h"
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
inline constexpr int kCpuDevice = -1;  ///< a thread that runs a backward call of its own

/// A gradient requested by grad(): slot `input_idx` of a node is result `output_idx`.
struct Capture {
  std::uint32_t input_idx;
  std::uint32_t output_idx;
};

/// The state of one node in a backward call.
struct NodeState {
  IntrusivePtr<Node> fn;
  std::uint32_t dependencies = 0;  ///< edges that have not delivered their gradient yet
  bool needed = false;             ///< is between a root and a requested node
  bool has_captures = false;
  InputBuffer inputs;

  bool should_execute() const { return needed || has_captures; }
};

class GraphTask final : public RefCounted {
 public:
  GraphTask(bool keep_graph, bool create_graph, int reentrant_depth,
            std::shared_ptr<ReadyQueue> cpu_ready_queue);
  ~GraphTask();
  static void on_last_release(GraphTask* task);

  /// Counts the edges into every node reachable from `root`, without traversing nodes whose
  /// topological number is below `min_topological_nr`.
  void compute_dependencies(const IntrusivePtr<Node>& root, std::uint64_t min_topological_nr);
  /// Restricts execution to the nodes that lead to `outputs`; captures their gradients unless
  /// `accumulate_grad` is set.
  void init_to_execute(const IntrusivePtr<Node>& root, const EdgeList& outputs,
                       bool accumulate_grad, std::uint64_t min_topological_nr);

  /// The entry of a node, or null when the call did not reach it.
  NodeState* state_of(const Node& fn);
  /// Returns true when this call runs or captures at `fn`.
  bool should_execute(const Node& fn);
  const std::vector<Capture>& captures_of(const Node& fn) const;
  /// Returns true when some node belongs to an accelerator, so that several threads work on the
  /// call.
  bool has_device_nodes() const { return has_device_nodes_; }
  /// Locks `mutex` if several threads work on the call.
  std::unique_lock<std::mutex> lock_if_shared() {
    return has_device_nodes_ ? std::unique_lock(mutex) : std::unique_lock<std::mutex>();
  }
  bool has_exec_info() const { return has_exec_info_; }
  std::size_t state_count() const { return states_.size(); }
  /// Returns true when the call captures the gradient of `fn` but does not run it.
  bool is_only_captured(const Node& fn);
  /// The first node of the call.
  const IntrusivePtr<Node>& root() const { return states_[0].fn; }
  /// Returns true when this call and all calls around it run every node they reach.
  bool can_checkpoint() const { return !has_exec_info_ && outer_can_checkpoint_; }
  /// Returns true when a node has received some but not all of its gradients.
  bool has_unfinished_states() const;

  bool completed() const { return outstanding_tasks.load() == 0; }
  /// Records the first error of the call; ignores later ones.
  void set_exception(std::exception_ptr error);
  /// Completes the call once: checks, final callbacks, result. Further callers return immediately.
  void mark_as_completed();
  bool future_completed() const { return future_completed_.load(std::memory_order_acquire); }
  /// Waits for completion on the thread that made the call while another thread serves its queue.
  /// Processes messages that only this thread can handle in the meantime (Inbox).
  void wait();
  /// Returns the captured gradients, or rethrows the error. What the call has kept is let go of.
  GradList take_result();
  /// Keeps `something` alive until the call ends, also with an error.
  void keep(std::shared_ptr<void> something);
  /// Adds a function to run after all nodes, before the call returns.
  void add_final_callback(std::function<void()> callback);

  /// The call whose node this thread is running, or null.
  static GraphTask* current();
  /// The node this thread is running, or null.
  static Node* current_node();

  const std::uint64_t id;
  const bool keep_graph;
  const int reentrant_depth;
  int owner = kNoDevice;  ///< device index of the thread that made the call, which must be woken
  const void* caller = nullptr;  ///< identifies that thread
  const AutogradState thread_state;
  Recording* const recorded_in = recording();
  /// The call that this one is, or is made in, if that runs apart from the code that made it.
  std::shared_ptr<AsyncCall> async_call = AsyncCall::current();
  std::shared_ptr<ReadyQueue> cpu_ready_queue;
  std::atomic<std::int64_t> outstanding_tasks{0};
  std::atomic<bool> has_error{false};
  /// Guards the states and the captured gradients when several threads work on the call.
  std::mutex mutex;
  GradList captured_grads;
  /// Warnings from threads other than the caller.
  WarningCollector warnings;

 private:
  NodeState& claim(const IntrusivePtr<Node>& fn, bool& is_new);
  void run_final_callbacks();

  void release_states();
  void release_kept();

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

/// Sets the current task and node of this thread for a scope.
class EvaluationGuard {
 public:
  EvaluationGuard(GraphTask* task, Node* node);
  ~EvaluationGuard();
  /// Switches to another node of the same call.
  void set_node(Node* node);
  EvaluationGuard(const EvaluationGuard&) = delete;
  EvaluationGuard& operator=(const EvaluationGuard&) = delete;

 private:
  GraphTask* previous_task_;
  Node* previous_node_;
};

}  // namespace eg
