#pragma once

// Runs backward calls.
//
// execute() turns roots and their gradients into a GraphTask, counts dependencies, queues the root
// and then works: a loop pops a NodeTask, runs the node, adds its results to the input buffers of
// the nodes they lead to and pushes those that became ready on the queue of their device. CPU nodes
// of a call run on the thread that made the call; each accelerator has one queue and one thread,
// shared by all calls. A backward call made from inside a node runs nested, on the same thread, and
// may meanwhile run tasks of other calls that lie in the same queue. Where many are nested, the
// next one continues on the stack of another thread, which serves the same queue, while its maker
// waits.
//
// The first error of a call wins. Its remaining tasks are popped and skipped, the error is rethrown
// to the caller, and the engine is as usable as before.
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

/// Accelerators with a queue of their own.
inline constexpr int kMaxAccelerators = 2;

class LocalWork;

class Engine {
 public:
  static Engine& instance();

  /// Computes gradients of `roots` weighted by `grads`. Returns the gradients of `outputs`, or,
  /// with `accumulate_grad`, adds them into their leaves and returns nothing; without `outputs` all
  /// leaves receive theirs.
  GradList execute(const EdgeList& roots, GradList grads, bool keep_graph, bool create_graph,
                   bool accumulate_grad, const EdgeList& outputs);

  /// Begins a call that its thread runs in pieces, where it has no other thread for it and other
  /// things to do in between. The call has a queue of its own: calls made between its pieces
  /// neither run its nodes nor wait for them.
  IntrusivePtr<GraphTask> begin_pieces(const EdgeList& roots, GradList grads, bool keep_graph,
                                       bool create_graph, bool accumulate_grad,
                                       const EdgeList& outputs);
  /// Runs nodes of such a call until `deadline`, but at least one; returns true when none is left
  /// and take_result() says what came of it.
  bool run_piece(const IntrusivePtr<GraphTask>& task,
                 std::chrono::steady_clock::time_point deadline);

  /// Starts the thread of a device before it has anything to run, and calls `running` there, or
  /// here where it runs already or a build has no threads. A browser starts a thread only while the
  /// thread that made it is idle, so a backward() that blocks must not be the first to need it.
  void start_ahead(int device, const std::function<void()>& running);

  /// Ends the device threads whose queues are empty, and waits for them, but not longer than 10 s:
  /// one that hangs is left behind. They start again when needed.
  void stop();

  /// Adds a function that runs when the current backward call of this thread has run all its nodes.
  static void queue_callback(std::function<void()> callback);
  /// Keeps something as long as the current backward call of this thread, however that ends.
  static void keep_with_call(std::shared_ptr<void> something);

  // About the backward call whose node, hook or callback this thread runs.

  /// Its number, or -1 outside of any.
  static std::int64_t current_graph_task_id();
  /// The node this thread runs now, or null.
  static IntrusivePtr<Node> current_node();
  /// True when the call will run `fn`, or has.
  static bool will_execute_node(const Node& fn);
  /// The nodes of the call in the order they run in; multithreading must be off.
  static std::vector<IntrusivePtr<Node>> current_graph_task_execution_order();
  /// False inside calls that compute the gradients of given inputs only: a nested backward, which
  /// fills all leaves, would not be what was asked for.
  static bool is_checkpoint_valid();

 private:
  // A thread is detached and ends by a shutdown in its queue, or with the program.
  struct DeviceThread {
    const std::shared_ptr<ReadyQueue> queue = std::make_shared<ReadyQueue>();
    std::atomic<bool> is_running{false};
    int times_ended = 0;  ///< Guarded by device_mutex_: it may run again before stop() has seen it.
  };

  // What is done before and after a node runs is kept out of the frames that lie below it: nested
  // calls repeat them, and in WebAssembly there is one small stack for all.

  /// Makes the task of a call and queues its root.
  [[gnu::noinline]] IntrusivePtr<GraphTask> begin(const EdgeList& roots, GradList grads,
                                                  bool keep_graph, bool create_graph,
                                                  bool accumulate_grad, const EdgeList& outputs);
  /// Runs a nested call for the thread that made it and waits.
  static void continue_call(const IntrusivePtr<GraphTask>& task);
  void thread_main(const IntrusivePtr<GraphTask>& task);
  /// Waits for a task in this thread's queue and runs it.
  void run_next();
  void run_task(const IntrusivePtr<GraphTask>& task, NodeTask node_task);
  /// Runs a node, and then what becomes ready on this thread, until other work waits.
  void run_row(const IntrusivePtr<GraphTask>& task, NodeState& first, InputBuffer inputs);
  void evaluate_function(const IntrusivePtr<GraphTask>& task, const NodeState& state,
                         InputBuffer& inputs);
  [[gnu::noinline]] void deliver(const IntrusivePtr<GraphTask>& task, Node& fn, GradList& outputs);
  void schedule(const IntrusivePtr<GraphTask>& task, NodeState& state);
  [[gnu::noinline]] static void hand_over(const IntrusivePtr<GraphTask>& task, LocalWork& work);
  void push(const GraphTask& task, int device, NodeTask node_task);
  DeviceThread& device_thread(int device);
  /// Starts the thread of a device, which calls `running` first; false when it runs already.
  bool start(int device, std::function<void()> running = nullptr);
  void run_device_thread(int device);

  std::mutex device_mutex_;
  std::condition_variable device_stopped_;
  std::array<DeviceThread, kMaxAccelerators> device_threads_;
};

/// Checks that `grads` fit the slots `edges` lead to; sums broadcast dimensions, casts and moves
/// what fits otherwise. `fn` returned them and is named in errors; null for the roots of a call.
void validate_outputs(const EdgeList& edges, GradList& grads, const Node* fn);

}  // namespace eg
