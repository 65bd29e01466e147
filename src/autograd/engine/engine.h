#pragma once

// Runs backward calls.
//
// execute() turns roots and their gradients into a GraphTask, counts dependencies, queues the root
// and then enters a loop: it pops a NodeTask, runs the node, adds the results to the input buffers
// of the next nodes and pushes those that became ready to the queue of their device. CPU nodes of a
// call run on the thread that made the call. Each accelerator has one queue and one thread, shared
// by all calls. A backward call made inside a node runs nested on the same thread, and may run
// tasks of other calls from the same queue while it waits. When too many calls are nested, the next
// one continues on the stack of another thread, which serves the same queue, while the calling
// thread waits.
//
// The first error of a call wins: the remaining tasks of the call are popped and skipped, and the
// error is rethrown to the caller. The engine stays usable.
//
// Lock order: GraphTask::mutex before a queue's mutex. No lock is held while user code runs.

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "autograd/engine/graph_task.h"
#include "autograd/engine/ready_queue.h"
#include "autograd/graph/node.h"

namespace eg {

/// The number of accelerators with their own queue.
inline constexpr int kMaxAccelerators = 2;

class LocalReadyHeap;

class Engine {
 public:
  static Engine& instance();

  /// Computes gradients of `roots` weighted by `grads`. Returns the gradients of `outputs`; or,
  /// with `accumulate_grad`, adds them to their leaves and returns nothing. Without `outputs`, all
  /// leaves receive their gradients.
  GradList execute(const EdgeList& roots, GradList grads, bool keep_graph, bool create_graph,
                   bool accumulate_grad, const EdgeList& outputs);

  /// Begins a call that its thread runs in pieces, for a thread that has other work to do in
  /// between and no other thread to run the call on. The call has its own queue: calls made between
  /// the pieces neither run its nodes nor wait for them.
  IntrusivePtr<GraphTask> begin_pieces(const EdgeList& roots, GradList grads, bool keep_graph,
                                       bool create_graph, bool accumulate_grad,
                                       const EdgeList& outputs);
  /// Runs nodes of such a call until `deadline`, but at least one. Returns true when none is left;
  /// take_result() then returns the outcome.
  bool run_piece(const IntrusivePtr<GraphTask>& task,
                 std::chrono::steady_clock::time_point deadline);

  /// Starts the thread of a device in advance and calls `running` there, or on this thread if the
  /// device thread is already running or the build has no threads. A browser starts a thread only
  /// while the thread that created it is idle, so a blocking backward() must not be the first to
  /// need it.
  void start_ahead(int device, const std::function<void()>& running);

  /// Stops the device threads whose queues are empty and waits for each up to 10 s; a thread that
  /// hangs is abandoned. They start again when needed.
  void stop();

  /// Adds a function that runs after all nodes of this thread's current backward call.
  static void queue_callback(std::function<void()> callback);
  /// Keeps `something` alive until this thread's current backward call ends, also with an error.
  static void keep_with_call(std::shared_ptr<void> something);

  // Queries about the backward call whose node, hook or callback this thread is running.

  /// The id of the call, or -1 outside of any.
  static std::int64_t current_graph_task_id();
  /// The node that this thread is running, or null.
  static IntrusivePtr<Node> current_node();
  /// Returns true when the call will run or has run `fn`.
  static bool will_execute_node(const Node& fn);
  /// The nodes of the call in execution order; requires multithreading to be off.
  static std::vector<IntrusivePtr<Node>> current_graph_task_execution_order();
  /// Returns false inside calls that compute gradients of given inputs only: a nested backward,
  /// which fills the `.grad` of all leaves, would then compute something else than requested.
  static bool is_checkpoint_valid();

 private:
  // A device thread is detached. It ends at a shutdown task in its queue, or with the program.
  struct DeviceThread {
    const std::shared_ptr<ReadyQueue> queue = std::make_shared<ReadyQueue>();
    bool is_running = false;  ///< guarded by device_mutex_
    int times_ended =
        0;  ///< guarded by device_mutex_; counts, because it may restart before stop() sees the end
  };

  // What precedes and follows a node's run is in separate functions, which keeps the frames below a
  // node small: nested calls repeat these frames, and in WebAssembly they share one small stack.

  /// Makes the task of a call and queues its root.
  [[gnu::noinline]] IntrusivePtr<GraphTask> begin(const EdgeList& roots, GradList grads,
                                                  bool keep_graph, bool create_graph,
                                                  bool accumulate_grad, const EdgeList& outputs);
  /// Runs a nested call on behalf of the thread that made it, which waits.
  static void run_nested_call(const IntrusivePtr<GraphTask>& task);
  void thread_main(const IntrusivePtr<GraphTask>& task);
  /// Waits for a task in this thread's queue and runs it.
  void run_next();
  void run_task(const IntrusivePtr<GraphTask>& task, NodeTask node_task);
  /// Runs a node and then the nodes that become ready on this thread, until the queue has other
  /// work.
  void run_ready_nodes(const IntrusivePtr<GraphTask>& task, NodeState& first, InputBuffer inputs);
  void evaluate_function(const IntrusivePtr<GraphTask>& task, const NodeState& state,
                         InputBuffer& inputs);
  [[gnu::noinline]] void deliver(const IntrusivePtr<GraphTask>& task, Node& fn, GradList& outputs);
  void schedule(const IntrusivePtr<GraphTask>& task, NodeState& state);
  [[gnu::noinline]] static void move_to_queue(const IntrusivePtr<GraphTask>& task,
                                              LocalReadyHeap& heap);
  void push(const GraphTask& task, int device, NodeTask node_task);
  /// The queue for the nodes of a call that a device runs.
  const std::shared_ptr<ReadyQueue>& queue_of(const GraphTask& task, int device);
  DeviceThread& device_thread(int device);
  /// Starts the thread of a device, which first calls `running`; returns false if it already runs.
  /// device_mutex_ must be held.
  bool start_locked(int device, std::function<void()> running = nullptr);
  void run_device_thread(int device);

  std::mutex device_mutex_;
  std::condition_variable device_stopped_;
  std::array<DeviceThread, kMaxAccelerators> device_threads_;
};

/// Checks that `grads` fit the slots that `edges` lead to; where necessary and possible, sums
/// broadcast dimensions, casts, or moves to the slot's device. `fn` returned the gradients and is
/// named in errors; null for the roots of a call.
void validate_outputs(const EdgeList& edges, GradList& grads, const Node* fn);

}  // namespace eg
