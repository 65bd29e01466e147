// compile: engine

#include "autograd/engine/engine.h"

#include <chrono>
#include <optional>
#include <utility>

#include "autograd/anomaly_mode.h"
#include "autograd/engine/async_call.h"
#include "autograd/engine/local_ready_heap.h"
#include "autograd/engine/thread_role.h"
#include "autograd/graph/basic_nodes.h"
#include "autograd/profiler.h"
#include "base/error.h"
#include "base/warning.h"
#include "runtime/background.h"
#include "runtime/inbox.h"
#include "runtime/native_stack.h"

namespace eg {
namespace {

// The number of nested calls on one native stack before the next one continues on another thread.
constexpr int kMaxCallsPerStack = 60;
// The stack that a nested call may need, including user functions.
constexpr std::size_t kStackReserve = std::size_t{64} * 1024;

constexpr std::chrono::seconds kStopWait{10};

const std::shared_ptr<ReadyQueue>& local_ready_queue() {
  if (role.queue == nullptr) role.queue = std::make_shared<ReadyQueue>();
  return role.queue;
}

bool piece_is_over(const GraphTask& task) {
  return role.piece != nullptr && role.piece->task == &task && role.piece->is_over();
}

// Returns true when a nested call must continue on another stack; throws if there is no other.
bool stack_is_used_up() {
  if constexpr (kCanContinueOnAnotherStack) {
    return role.stack_depth >= kMaxCallsPerStack;
  } else {
    if (free_stack_bytes() < kStackReserve) {
      fail(ErrorCode::kOutOfMemory, "[backward] ", role.depth,
           " nested backward calls have used up the stack of this thread.");
    }
    return false;
  }
}

// The index of the device whose queue runs a node.
int device_for(const GraphTask& task, const Node& fn) {
  if (!task.has_device_nodes() || !is_multithreading_enabled() || EG_THREADS == 0)
    return kCpuDevice;
  const Device device = fn.device();
  return device.is_cpu() ? kCpuDevice : device.index;
}

// If some input cannot be reached, its topological_nr of zero makes every node worth visiting.
std::uint64_t min_topological_nr(const EdgeList& outputs) {
  if (outputs.empty()) return 0;
  std::uint64_t smallest = kAccumulateGradSequenceNr;
  for (const Edge& edge : outputs) smallest = std::min(smallest, edge.function->topological_nr());
  return smallest;
}

// Frees the saved tensors of a node after it has run, even if it failed.
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

GradList apply_named(Node& fn, GradList&& grads) {
  try {
    return fn.apply(std::move(grads));
  } catch (const Error& error) {
    rethrow_named(error, fn.name());
  }
}

GradList apply_function(const GraphTask& task, Node& fn, GradList&& grads) {
  const ReleaseGuard release(task, fn);
  GradList outputs = apply_named(fn, std::move(grads));
  if (fn.num_outputs() != 0) validate_outputs(fn.next_edges(), outputs, &fn);
  return outputs;
}

GradList call_function(const GraphTask& task, Node& fn, GradList& grads) {
  // Only for hooks that exist before apply(): one that apply() itself registers sees no inputs.
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

// A separate function, so that no name is built for nodes that are found.
[[noreturn]] void fail_dependency_not_found(const Node& fn) {
  fail(ErrorCode::kInternal, "dependency not found for ", fn.name(), '.');
}

// An exception from the warning handler is an error of the call, unless the call has already
// failed.
void replay_warnings(GraphTask& task) {
  try {
    task.warnings.replay();
  } catch (...) {
    task.set_exception(std::current_exception());
  }
}

}  // namespace

Engine& Engine::instance() {
  // Never destroyed: its threads may outlive static destructors.
  static auto* const engine = new Engine;
  return *engine;
}

IntrusivePtr<GraphTask> Engine::begin(const EdgeList& roots, GradList grads, bool keep_graph,
                                      bool create_graph, bool accumulate_grad,
                                      const EdgeList& outputs) {
  validate_outputs(roots, grads, nullptr);

  if (create_graph && accumulate_grad) {
    static WarnOnce once;
    once.warn(
        "backward() with createGraph: true makes a leaf and its gradient keep each other alive, "
        "which leaks memory. Use autograd.grad() instead, or set the .grad of every leaf to null "
        "after use.");
  }

  const bool nested = role.device != kNoDevice;
  const int depth = nested ? role.depth + 1 : 0;
  const auto task = make_intrusive<GraphTask>(keep_graph, create_graph, depth, local_ready_queue());
  task->owner = nested ? role.device : kCpuDevice;
  task->caller = &role;
  if (task->async_call != nullptr) task->async_call->begin(*task);

  // A single root node is the graph root itself; several roots get a GraphRoot that returns their
  // gradients.
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
  const std::uint64_t min_topo = min_topological_nr(outputs);
  task->compute_dependencies(root, min_topo);
  if (!outputs.empty()) task->init_to_execute(root, outputs, accumulate_grad, min_topo);

  push(*task, device_for(*task, *root), NodeTask(task, root, std::move(inputs)));
  return task;
}

GradList Engine::execute(const EdgeList& roots, GradList grads, bool keep_graph, bool create_graph,
                         bool accumulate_grad, const EdgeList& outputs) {
  const bool nested = role.device != kNoDevice;
  const bool continues_elsewhere = nested && stack_is_used_up();
  const IntrusivePtr<GraphTask> task =
      begin(roots, std::move(grads), keep_graph, create_graph, accumulate_grad, outputs);
  if (continues_elsewhere) {
    // The other thread serves this thread's queue, so this one may only wait for the result. The
    // reference is weak, so that a call that fails in the meantime is not kept alive by it.
    try {
      run_in_background_now("backward", [waiting = WeakPtr<GraphTask>(task)] {
        if (const IntrusivePtr<GraphTask> call = waiting.lock()) run_nested_call(call);
      });
    } catch (...) {
      queue_of(*task, task->owner)->drop_tasks_of(*task);
      throw;
    }
    task->wait();
  } else {
    const RoleScope scope(
        role.nested(task->owner, task->reentrant_depth, nested ? role.stack_depth + 1 : 0));
    thread_main(task);
  }
  replay_warnings(*task);
  return task->take_result();
}

IntrusivePtr<GraphTask> Engine::begin_pieces(const EdgeList& roots, GradList grads, bool keep_graph,
                                             bool create_graph, bool accumulate_grad,
                                             const EdgeList& outputs) {
  const RoleScope scope({.queue = std::make_shared<ReadyQueue>()});
  const EvaluationGuard inside_no_call(nullptr, nullptr);
  return begin(roots, std::move(grads), keep_graph, create_graph, accumulate_grad, outputs);
}

bool Engine::run_piece(const IntrusivePtr<GraphTask>& task,
                       std::chrono::steady_clock::time_point deadline) {
  const Piece piece{task.get(), deadline};
  const RoleScope scope({.device = task->owner, .piece = &piece, .queue = task->cpu_ready_queue});
  const EvaluationGuard inside_no_call(nullptr, nullptr);
  do {
    run_next();
  } while (!task->future_completed() && !piece.is_over());
  if (!task->future_completed()) return false;
  replay_warnings(*task);
  return true;
}

void Engine::run_nested_call(const IntrusivePtr<GraphTask>& task) {
  Engine& engine = instance();
  const RoleScope scope({.device = task->owner,
                         .depth = task->reentrant_depth,
                         .queue = engine.queue_of(*task, task->owner)});
  engine.thread_main(task);
}

void Engine::thread_main(const IntrusivePtr<GraphTask>& task) {
  const auto is_done = [&] {
    return task == nullptr ? role.shutdown_requested : task->future_completed();
  };
  while (!is_done()) run_next();
}

void Engine::run_next() {
  NodeTask node_task = role.queue->pop();
  if (node_task.is_shutdown) {
    role.shutdown_requested = true;
    return;
  }
  // Tasks of a call that no longer exists are dropped here.
  const IntrusivePtr<GraphTask> owner = node_task.graph_task.lock();
  if (owner != nullptr) run_task(owner, std::move(node_task));
}

void Engine::run_task(const IntrusivePtr<GraphTask>& task, NodeTask node_task) {
  if (!task->has_error.load(std::memory_order_acquire)) {
    run_ready_nodes(task, *task->state_of(*node_task.fn), std::move(node_task.inputs));
  }
  --task->outstanding_tasks;
  if (!task->completed()) return;
  task->mark_as_completed();
  // The owner may be waiting on its own queue.
  if (role.device != task->owner) queue_of(*task, task->owner)->push_wake_up();
}

void Engine::run_ready_nodes(const IntrusivePtr<GraphTask>& task, NodeState& first,
                             InputBuffer inputs) {
  const AutogradStateGuard mode(task->thread_state);
  const RecordingGuard recording_state(task->recorded_in);
  EvaluationGuard current(task.get(), first.fn.get());
  // Only the thread that made the call may print warnings.
  std::optional<WarningCollectorGuard> collect;
  if (task->caller != &role) collect.emplace(&task->warnings);
  LocalReadyHeap heap(task.get());
  const RoleScope scope(role.with_ready(heap));
  try {
    NodeState* state = &first;
    for (;;) {
      evaluate_function(task, *state, inputs);
      // Freed before the next node runs, which may need the memory or may adopt one of the tensors.
      inputs = InputBuffer();
      if (heap.empty() || task->has_error.load(std::memory_order_relaxed)) return;
      if (!role.queue->looks_empty() || piece_is_over(*task)) {
        move_to_queue(task, heap);
        return;
      }
      state = &heap.pop();
      inputs = std::move(state->inputs);
      // Reset: the previous node may have changed the state of this thread.
      autograd_state() = task->thread_state;
      current.set_node(state->fn.get());
    }
  } catch (...) {
    const bool is_first = !task->has_error.load();
    task->set_exception(std::current_exception());
    if (!is_first || !AnomalyMode::is_enabled()) return;
    try {
      warn_anomaly_trace(*GraphTask::current_node());
    } catch (...) {
      // The warning handler is user code. The original error is thrown in any case.
      return;
    }
  }
}

void Engine::move_to_queue(const IntrusivePtr<GraphTask>& task, LocalReadyHeap& heap) {
  while (!heap.empty()) {
    NodeState& state = heap.pop();
    role.queue->push(NodeTask(task, state.fn, std::move(state.inputs)));
  }
}

void Engine::evaluate_function(const IntrusivePtr<GraphTask>& task, const NodeState& state,
                               InputBuffer& inputs) {
  Node& fn = *state.fn;
  const ProfilerScope profiler(fn);
  if (task->has_exec_info()) {
    if (!state.needed && fn.has_hooks()) fn.run_tensor_pre_hooks(inputs.grads());
    if (state.has_captures) {
      const auto lock = task->lock_if_shared();
      for (const Capture& capture : task->captures_of(fn)) {
        task->captured_grads[capture.output_idx] = inputs[capture.input_idx];
      }
    }
    if (!state.needed) return;
  }
  GradList outputs = call_function(*task, fn, inputs.grads());
  if (fn.num_outputs() == 0) return;
  if (AnomalyMode::is_enabled() && AnomalyMode::should_check_nan()) [[unlikely]] {
    const NoGradGuard no_grad;
    check_nan_outputs(fn, outputs);
  }
  deliver(task, fn, outputs);
}

void Engine::deliver(const IntrusivePtr<GraphTask>& task, Node& fn, GradList& outputs) {
  const auto lock = task->lock_if_shared();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Edge& edge = fn.next_edge(i);
    if (!edge.is_valid()) continue;
    NodeState* next = task->state_of(*edge.function);
    if (next == nullptr || next->dependencies == 0) fail_dependency_not_found(*edge.function);
    const bool is_ready = --next->dependencies == 0;
    if (task->has_exec_info() && !next->should_execute()) continue;
    if (next->inputs.empty()) next->inputs = InputBuffer(edge.function->num_inputs());
    next->inputs.add(edge.input_nr, std::move(outputs[i]));
    if (is_ready) schedule(task, *next);
  }
}

void Engine::schedule(const IntrusivePtr<GraphTask>& task, NodeState& state) {
  const int device = device_for(*task, *state.fn);
  const bool is_here =
      device == kCpuDevice ? role.queue == task->cpu_ready_queue : role.device == device;
  if (is_here && role.ready != nullptr && role.ready->task() == task.get()) {
    role.ready->push(state);
  } else {
    push(*task, device, NodeTask(task, state.fn, std::move(state.inputs)));
  }
}

const std::shared_ptr<ReadyQueue>& Engine::queue_of(const GraphTask& task, int device) {
  return device == kCpuDevice ? task.cpu_ready_queue : device_thread(device).queue;
}

void Engine::push(const GraphTask& task, int device, NodeTask node_task) {
  if (device == kCpuDevice) {
    task.cpu_ready_queue->push(std::move(node_task));
    return;
  }
  // One lock for both: a thread that ends looks at its queue last.
  const std::scoped_lock lock(device_mutex_);
  // Before the push: if the thread cannot be started, the call fails without an outstanding task.
  start_locked(device);
  device_thread(device).queue->push(std::move(node_task));
}

Engine::DeviceThread& Engine::device_thread(int device) {
  invariant(device >= 0 && device < kMaxAccelerators, "no device queue ", device, '.');
  return device_threads_[static_cast<std::size_t>(device)];
}

bool Engine::start_locked(int device, std::function<void()> running) {
  DeviceThread& thread = device_thread(device);
  if (thread.is_running) return false;
  share_objects();
  start_thread_with_inbox("backward", [this, device, running = std::move(running)] {
    if (running) running();
    run_device_thread(device);
  }).detach();
  thread.is_running = true;
  return true;
}

void Engine::start_ahead(int device, const std::function<void()>& running) {
  bool is_started = false;
  try {
    const std::scoped_lock lock(device_mutex_);
    is_started = EG_THREADS != 0 && start_locked(device, running);
  } catch (const std::exception&) {
    // The first backward() that needs the thread tries again and reports the error.
    is_started = false;
  }
  if (!is_started) running();
}

void Engine::run_device_thread(int device) {
  DeviceThread& self = device_thread(device);
  role = {.device = device, .queue = self.queue};
  for (bool is_running = true; is_running;) {
    role.shutdown_requested = false;
    thread_main(nullptr);
    {
      const std::scoped_lock lock(device_mutex_);
      // Tasks pushed in the meantime rely on this thread.
      self.is_running = is_running = !self.queue->empty();
      ++self.times_ended;
    }
    device_stopped_.notify_all();
  }
}

void Engine::stop() {
  std::unique_lock lock(device_mutex_);
  for (DeviceThread& device : device_threads_) {
    if (!device.is_running || !device.queue->empty()) continue;
    device.queue->push_shutdown();
    const int before = device.times_ended;
    device_stopped_.wait_for(lock, kStopWait, [&] { return device.times_ended != before; });
  }
}

}  // namespace eg
