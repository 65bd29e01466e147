#pragma once

// Runs backward calls.
//
// execute() turns roots and their gradients into a GraphTask, counts dependencies, queues the root
// and then works: a loop pops a NodeTask, runs the node, adds its results to the input buffers of
// the nodes they lead to and pushes those that became ready on the queue of their device. CPU nodes
// of a call run on the thread that made the call; each accelerator has one queue and one thread,
// shared by all calls. A backward call made from inside a node runs nested, on the same thread, and
// may meanwhile run tasks of other calls that lie in the same queue.
//
// The first error of a call wins. Its remaining tasks are popped and skipped, the error is rethrown
// to the caller, and the engine is as usable as before.
//
// Lock order: GraphTask::mutex before a queue's mutex. No lock is held while user code runs.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "autograd/graph_task.h"
#include "autograd/node.h"
#include "autograd/ready_queue.h"

namespace eg {

/// Accelerators with a queue of their own.
inline constexpr int kMaxAccelerators = 2;

class Engine {
 public:
  static Engine& instance();

  /// Computes gradients of `roots` weighted by `grads`. Returns the gradients of `outputs`, or,
  /// with `accumulate_grad`, adds them into their leaves and returns nothing; without `outputs` all
  /// leaves receive theirs.
  GradList execute(const EdgeList& roots, GradList grads, bool keep_graph, bool create_graph,
                   bool accumulate_grad, const EdgeList& outputs);

  /// Ends the device threads, if their queues are empty. They start again when needed.
  void stop();

  /// Adds a function that runs when the current backward call of this thread has run all its nodes.
  void queue_callback(std::function<void()> callback);

  /// Number of the backward call this thread works for, or -1.
  static std::int64_t current_graph_task_id();
  /// The node this thread runs now, or null.
  static IntrusivePtr<Node> current_node();

 private:
  struct DeviceThread {
    std::shared_ptr<ReadyQueue> queue = std::make_shared<ReadyQueue>();
    std::thread thread;
  };

  void thread_main(const IntrusivePtr<GraphTask>& task);
  void run_task(const IntrusivePtr<GraphTask>& task, NodeTask node_task);
  void evaluate_function(const IntrusivePtr<GraphTask>& task, const IntrusivePtr<Node>& fn,
                         InputBuffer& inputs);
  void deliver(const IntrusivePtr<GraphTask>& task, Node& fn, GradList& outputs);
  ReadyQueue& ready_queue(const GraphTask& task, Device device);
  ReadyQueue& queue_of_owner(const GraphTask& task);
  /// The queue of an accelerator, whose thread starts with the first use.
  const std::shared_ptr<ReadyQueue>& device_queue(int index);

  std::mutex device_mutex_;
  std::array<DeviceThread, kMaxAccelerators> device_threads_;
};

/// Checks that `grads` fit the slots `edges` lead to; sums broadcast dimensions, casts and moves
/// what fits otherwise. `fn` returned them and is named in errors; null for the roots of a call.
void validate_outputs(const EdgeList& edges, GradList& grads, const Node* fn);

}  // namespace eg
