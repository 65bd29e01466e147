#include "autograd/engine.h"

#include "autograd/anomaly_mode.h"
#include "autograd/basic_nodes.h"
#include "base/error.h"

namespace eg {
namespace {

// What a thread is to the engine.
struct ThreadRole {
  int device = kNoDevice;
  int nesting_depth = 0;
  std::shared_ptr<ReadyQueue> queue;
};
thread_local ThreadRole role;

const std::shared_ptr<ReadyQueue>& local_ready_queue() {
  if (role.queue == nullptr) role.queue = std::make_shared<ReadyQueue>();
  return role.queue;
}

// Restores this thread's role when a backward call ends, also by an exception.
class RoleGuard {
 public:
  RoleGuard(int device, int nesting_depth)
      : device_(role.device), nesting_depth_(role.nesting_depth) {
    role.device = device;
    role.nesting_depth = nesting_depth;
  }
  ~RoleGuard() {
    role.device = device_;
    role.nesting_depth = nesting_depth_;
  }
  RoleGuard(const RoleGuard&) = delete;
  RoleGuard& operator=(const RoleGuard&) = delete;

 private:
  int device_;
  int nesting_depth_;
};

// Inputs that nothing can reach need no walk at all: zero makes every node worth visiting.
std::uint64_t min_topological_nr(const EdgeList& outputs) {
  if (outputs.empty()) return 0;
  std::uint64_t smallest = kAccumulateGradSequenceNr;
  for (const Edge& edge : outputs) smallest = std::min(smallest, edge.function->topological_nr());
  return smallest;
}

// Frees what a node saved when it has run, also when it failed.
class ReleaseGuard {
 public:
  ReleaseGuard(const GraphTask& task, Node& fn) : fn_(task.keep_graph ? nullptr : &fn) {}
  ~ReleaseGuard() {
    if (fn_ != nullptr) fn_->release_variables();
  }
  ReleaseGuard(const ReleaseGuard&) = delete;
  ReleaseGuard& operator=(const ReleaseGuard&) = delete;

 private:
  Node* fn_;
};

GradList apply_function(const GraphTask& task, Node& fn, GradList&& grads) {
  const ReleaseGuard release(task, fn);
  GradList outputs = fn.apply(std::move(grads));
  if (fn.num_outputs() != 0) validate_outputs(fn.next_edges(), outputs, &fn);
  return outputs;
}

GradList call_function(const GraphTask& task, Node& fn, GradList& grads) {
  // Kept only for hooks that exist by now: one registered by apply() itself finds nothing.
  GradList kept;
  if (fn.has_hooks()) {
    fn.run_tensor_pre_hooks(grads);
    fn.run_pre_hooks(grads);
    if (fn.has_post_hooks()) kept = grads;
  }
  GradList outputs = apply_function(task, fn, std::move(grads));
  if (fn.has_post_hooks()) fn.run_post_hooks(outputs, kept);
  return outputs;
}

// Apart, so that no name is made up for the nodes that are found.
[[noreturn]] void fail_dependency_not_found(const Node& fn) {
  fail(ErrorCode::kInternal, "dependency not found for ", fn.name(), '.');
}

}  // namespace

Engine& Engine::instance() {
  // Never destroyed: its threads may outlive every static destructor.
  static auto* const engine = new Engine;
  return *engine;
}

std::int64_t Engine::current_graph_task_id() {
  const GraphTask* task = GraphTask::current();
  return task == nullptr ? -1 : static_cast<std::int64_t>(task->id);
}

IntrusivePtr<Node> Engine::current_node() { return IntrusivePtr<Node>(GraphTask::current_node()); }

void Engine::queue_callback(std::function<void()> callback) {
  GraphTask* task = GraphTask::current();
  if (task == nullptr) {
    fail(ErrorCode::kInvalidArgument,
         "[queueCallback] Final callbacks can only be installed during backward pass.");
  }
  task->add_final_callback(std::move(callback));
}

GradList Engine::execute(const EdgeList& roots, GradList grads, bool keep_graph, bool create_graph,
                         bool accumulate_grad, const EdgeList& outputs) {
  validate_outputs(roots, grads, nullptr);

  const bool nested = role.device != kNoDevice;
  const int depth = nested ? role.nesting_depth + 1 : 0;
  const auto task = make_intrusive<GraphTask>(keep_graph, create_graph, depth, local_ready_queue());
  task->owner = nested ? role.device : kCpuDevice;

  // A single root is its own graph root; several hang below a GraphRoot that hands out their grads.
  const bool single_root = roots.size() == 1;
  InputBuffer inputs;
  IntrusivePtr<Node> root;
  if (single_root) {
    root = roots[0].function;
    inputs = InputBuffer(root->num_inputs());
    inputs.add(roots[0].input_nr, std::move(grads[0]));
  } else {
    root = make_intrusive<GraphRoot>(roots, std::move(grads));
  }
  const Device root_device = single_root ? root->device() : Device{};

  const std::uint64_t min_topo = min_topological_nr(outputs);
  task->compute_dependencies(root, min_topo);
  if (!outputs.empty()) task->init_to_execute(root, outputs, accumulate_grad, min_topo);

  ready_queue(*task, root_device).push(NodeTask(task, root, std::move(inputs)));
  {
    const RoleGuard guard(nested ? role.device : kCpuDevice, depth);
    thread_main(task);
  }
  return task->take_result();
}

void Engine::thread_main(const IntrusivePtr<GraphTask>& task) {
  while (task == nullptr || !task->future_completed()) {
    NodeTask node_task = role.queue->pop();
    if (node_task.is_shutdown) return;
    // A call that is gone leaves its tasks behind; they are dropped here.
    const IntrusivePtr<GraphTask> owner = node_task.graph_task.lock();
    if (owner == nullptr) continue;
    run_task(owner, std::move(node_task));
  }
}

void Engine::run_task(const IntrusivePtr<GraphTask>& task, NodeTask node_task) {
  if (node_task.fn != nullptr && !task->has_error.load(std::memory_order_acquire)) {
    const AutogradStateGuard state(task->thread_state);
    const EvaluationGuard current(task.get(), node_task.fn.get());
    try {
      evaluate_function(task, node_task.fn, node_task.inputs);
    } catch (...) {
      if (AnomalyMode::is_enabled() && !task->has_error.load()) warn_anomaly_trace(*node_task.fn);
      task->set_exception(std::current_exception());
    }
  }
  // Its gradients must be free before the call counts as done: the caller may look at memory.
  node_task = NodeTask();
  --task->outstanding_tasks;
  if (!task->completed()) return;
  task->mark_as_completed();
  // The owner may sleep in its own queue: an empty task wakes it.
  if (role.device != task->owner) queue_of_owner(*task).push(NodeTask(task, nullptr, {}));
}

void Engine::evaluate_function(const IntrusivePtr<GraphTask>& task, const IntrusivePtr<Node>& fn,
                               InputBuffer& inputs) {
  if (task->has_exec_info()) {
    const NodeState& state = *task->state_of(*fn);
    if (!state.needed && fn->has_hooks()) fn->run_tensor_pre_hooks(inputs.grads());
    if (state.has_captures) {
      const std::scoped_lock lock(task->mutex);
      for (const Capture& capture : task->captures_of(*fn)) {
        task->captured_grads[capture.output_idx] = inputs[capture.input_idx];
      }
    }
    if (!state.needed) return;
  }
  GradList outputs = call_function(*task, *fn, inputs.grads());
  if (fn->num_outputs() == 0) return;
  if (AnomalyMode::is_enabled() && AnomalyMode::should_check_nan()) [[unlikely]] {
    const NoGradGuard no_grad;
    check_nan_outputs(*fn, outputs);
  }
  deliver(task, *fn, outputs);
}

void Engine::deliver(const IntrusivePtr<GraphTask>& task, Node& fn, GradList& outputs) {
  const std::scoped_lock lock(task->mutex);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Edge& edge = fn.next_edge(i);
    if (!edge.is_valid()) continue;
    NodeState* next = task->state_of(*edge.function);
    if (next == nullptr || next->dependencies == 0) fail_dependency_not_found(*edge.function);
    const bool is_ready = --next->dependencies == 0;
    if (task->has_exec_info() && !next->should_execute()) continue;
    if (next->inputs.empty()) next->inputs = InputBuffer(edge.function->num_inputs());
    next->inputs.add(edge.input_nr, std::move(outputs[i]));
    if (is_ready) {
      ready_queue(*task, edge.function->device())
          .push(NodeTask(task, edge.function, std::move(next->inputs)));
    }
  }
}

ReadyQueue& Engine::ready_queue(const GraphTask& task, Device device) {
  if (device.is_cpu()) return *task.cpu_ready_queue;
  return *device_queue(device.index);
}

ReadyQueue& Engine::queue_of_owner(const GraphTask& task) {
  if (task.owner == kCpuDevice) return *task.cpu_ready_queue;
  return *device_queue(task.owner);
}

const std::shared_ptr<ReadyQueue>& Engine::device_queue(int index) {
  invariant(index >= 0 && index < kMaxAccelerators, "no device queue ", index, '.');
  DeviceThread& device = device_threads_[static_cast<std::size_t>(index)];
  const std::scoped_lock lock(device_mutex_);
  if (!device.thread.joinable()) {
    device.thread = std::thread([this, index, queue = device.queue] {
      role = {index, 0, queue};
      thread_main(nullptr);
    });
  }
  return device.queue;
}

void Engine::stop() {
  const std::scoped_lock lock(device_mutex_);
  for (DeviceThread& device : device_threads_) {
    if (!device.thread.joinable() || !device.queue->empty()) continue;
    device.queue->push_shutdown();
    device.thread.join();
  }
}

}  // namespace eg
