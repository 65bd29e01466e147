// compile: engine

#include "autograd/engine/graph_task.h"

#include "autograd/engine/ready_queue.h"
#include "autograd/graph/basic_nodes.h"
#include "base/error.h"

namespace eg {
namespace {

std::atomic<std::uint64_t> next_task_id{0};

struct Evaluation {
  GraphTask* task = nullptr;
  Node* node = nullptr;
};
thread_local Evaluation current_evaluation;

// Capacity for the states of this thread's next call, because growing a vector moves all its
// elements.
constexpr std::size_t kMaxSpareStates = 4096;
thread_local std::vector<NodeState> spare_states;

}  // namespace

GraphTask::GraphTask(bool keep_graph, bool create_graph, int reentrant_depth,
                     std::shared_ptr<ReadyQueue> cpu_ready_queue)
    : id(next_task_id.fetch_add(1)),
      keep_graph(keep_graph),
      reentrant_depth(reentrant_depth),
      thread_state([&] {
        AutogradState state = autograd_state();
        state.grad_mode = create_graph;
        return state;
      }()),
      cpu_ready_queue(std::move(cpu_ready_queue)),
      outer_can_checkpoint_(current() == nullptr || current()->can_checkpoint()) {
  states_.swap(spare_states);
}

GraphTask::~GraphTask() { release_states(); }

void GraphTask::release_states() {
  for (NodeState& state : states_) {
    state.fn->claimed_by_.leave(this);
  }
  states_.clear();
  if (states_.capacity() > spare_states.capacity() && states_.capacity() <= kMaxSpareStates) {
    spare_states.swap(states_);
  }
}

void GraphTask::on_last_release(GraphTask* task) {
  // Queued tasks of a failed call may refer back to it, and so does the asynchronous call: breaks
  // the reference cycles.
  task->cpu_ready_queue.reset();
  task->async_call.reset();
  if (WeakPtr<GraphTask>::has_no_weak_references(task)) {
    delete task;
    return;
  }
  // Queued tasks of a failed call still hold weak references: frees the contents now, and the
  // object with the last of them.
  task->release_states();
  task->captured_grads.clear();
  task->release_kept();
  WeakPtr<GraphTask>::drop(task);
}

NodeState& GraphTask::claim(const IntrusivePtr<Node>& fn, bool& is_new) {
  if (NodeState* known = state_of(*fn)) {
    is_new = false;
    return *known;
  }
  is_new = true;
  const auto index = static_cast<std::uint32_t>(states_.size());
  // First: a claim whose state could not be added would never be left.
  states_.emplace_back();
  states_.back().fn = fn;
  if (fn->claimed_by_.take(this)) {
    fn->claimed_index_ = index;
  } else {
    unclaimed_.emplace(fn.get(), index);
  }
  has_device_nodes_ = has_device_nodes_ || !fn->device().is_cpu();
  return states_.back();
}

NodeState* GraphTask::state_of(const Node& fn) {
  if (fn.claimed_by_.owner() == this) return &states_[fn.claimed_index_];
  if (unclaimed_.empty()) return nullptr;
  const auto found = unclaimed_.find(&fn);
  return found == unclaimed_.end() ? nullptr : &states_[found->second];
}

void GraphTask::compute_dependencies(const IntrusivePtr<Node>& root,
                                     std::uint64_t min_topological_nr) {
  bool is_new = false;
  claim(root, is_new);
  std::vector<Node*> stack{root.get()};
  while (!stack.empty()) {
    Node* fn = stack.back();
    stack.pop_back();
    if (fn->topological_nr() < min_topological_nr) continue;
    for (const Edge& edge : fn->next_edges()) {
      if (!edge.is_valid()) continue;
      ++claim(edge.function, is_new).dependencies;
      if (is_new) stack.push_back(edge.function.get());
    }
  }
}

void GraphTask::init_to_execute(const IntrusivePtr<Node>& root, const EdgeList& outputs,
                                bool accumulate_grad, std::uint64_t min_topological_nr) {
  has_exec_info_ = true;
  bool is_new = false;
  std::uint32_t output_idx = 0;
  for (const Edge& output : outputs) {
    NodeState& state = claim(output.function, is_new);
    if (accumulate_grad) {
      state.needed = true;
    } else {
      state.has_captures = true;
      captures_[output.function.get()].push_back({output.input_nr, output_idx++});
    }
  }
  captured_grads.resize(output_idx);

  // A node is needed when it leads to a node that executes. Depth-first search with an explicit
  // stack: a finished frame propagates its result to its parent. Outputs are not marked as seen,
  // because one may be on the path to another.
  struct Frame {
    Node* fn;
    std::size_t next_edge = 0;
  };
  std::vector<bool> seen(states_.size(), false);
  std::vector<Frame> stack{{root.get()}};
  const auto index_of = [&](const Node& fn) {
    return static_cast<std::size_t>(state_of(fn) - states_.data());
  };
  seen[index_of(*root)] = true;
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.next_edge < frame.fn->num_outputs()) {
      Node* next = frame.fn->next_edge(frame.next_edge++).function.get();
      if (next == nullptr || next->topological_nr() < min_topological_nr) continue;
      const std::size_t index = index_of(*next);
      if (seen[index]) {
        if (states_[index].should_execute()) state_of(*frame.fn)->needed = true;
        continue;
      }
      seen[index] = true;
      stack.push_back({next});
    } else {
      Node* done = frame.fn;
      stack.pop_back();
      if (!stack.empty() && state_of(*done)->should_execute()) {
        state_of(*stack.back().fn)->needed = true;
      }
    }
  }
}

bool GraphTask::should_execute(const Node& fn) {
  if (!has_exec_info_) return true;
  const NodeState* state = state_of(fn);
  return state != nullptr && state->should_execute();
}

bool GraphTask::is_only_captured(const Node& fn) {
  const NodeState* state = state_of(fn);
  return state != nullptr && state->has_captures && !state->needed;
}

const std::vector<Capture>& GraphTask::captures_of(const Node& fn) const {
  return captures_.at(&fn);
}

bool GraphTask::has_unfinished_states() const {
  for (const NodeState& state : states_) {
    if (!state.inputs.empty()) return true;
  }
  return false;
}

void GraphTask::set_exception(std::exception_ptr error) {
  const std::scoped_lock lock(future_mutex_);
  if (!has_error.exchange(true)) error_ = std::move(error);
}

void GraphTask::mark_as_completed() {
  if (completing_.exchange(true)) return;
  if (!has_error.load()) {
    try {
      {
        const auto lock = lock_if_shared();
        invariant(!has_unfinished_states(), "some nodes received only part of their gradients.");
      }
      run_final_callbacks();
    } catch (...) {
      set_exception(std::current_exception());
    }
  }
  std::shared_ptr<Inbox> waiter;
  {
    const std::scoped_lock lock(future_mutex_);
    future_completed_.store(true, std::memory_order_release);
    waiter = waiter_;
  }
  if (waiter != nullptr) waiter->wake();
}

void GraphTask::wait() {
  const std::shared_ptr<Inbox> inbox = Inbox::current();
  {
    const std::scoped_lock lock(future_mutex_);
    waiter_ = inbox;
  }
  inbox->serve_until([&] { return future_completed(); });
}

GradList GraphTask::take_result() {
  // Not left to the last reference: another thread of the call may hold it a little longer, and
  // what is kept belongs to this thread's program.
  release_kept();
  const std::scoped_lock lock(future_mutex_);
  // Moved out, so that the caller holds the last reference: another thread of the call that
  // releases this task later must not free an error the caller may be reading.
  if (std::exception_ptr error = std::move(error_)) std::rethrow_exception(std::move(error));
  return std::move(captured_grads);
}

void GraphTask::keep(std::shared_ptr<void> something) {
  const std::scoped_lock lock(callbacks_mutex_);
  kept_.push_back(std::move(something));
}

void GraphTask::release_kept() {
  std::vector<std::shared_ptr<void>> kept;
  const std::scoped_lock lock(callbacks_mutex_);
  kept.swap(kept_);
}

void GraphTask::add_final_callback(std::function<void()> callback) {
  const std::scoped_lock lock(callbacks_mutex_);
  final_callbacks_.push_back(std::move(callback));
}

void GraphTask::run_final_callbacks() {
  const AutogradStateGuard state(thread_state);
  const RecordingGuard recording_state(recorded_in);
  const EvaluationGuard current(this, nullptr);
  // By index and unlocked during each call, because a callback may add another.
  for (std::size_t i = 0;; ++i) {
    std::function<void()> callback;
    {
      const std::scoped_lock lock(callbacks_mutex_);
      if (i >= final_callbacks_.size()) return;
      callback = std::move(final_callbacks_[i]);
    }
    callback();
  }
}

GraphTask* GraphTask::current() { return current_evaluation.task; }

Node* GraphTask::current_node() { return current_evaluation.node; }

EvaluationGuard::EvaluationGuard(GraphTask* task, Node* node)
    : previous_task_(current_evaluation.task), previous_node_(current_evaluation.node) {
  current_evaluation = {task, node};
}
void EvaluationGuard::set_node(Node* node) { current_evaluation.node = node; }

EvaluationGuard::~EvaluationGuard() { current_evaluation = {previous_task_, previous_node_}; }

}  // namespace eg
