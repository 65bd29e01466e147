#include <algorithm>
#include <unordered_map>

#include "autograd/engine/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/graph/basic_nodes.h"
#include "base/error.h"

namespace eg {
namespace {

GraphTask& running_task(std::string_view query) {
  GraphTask* task = GraphTask::current();
  if (task == nullptr) {
    fail(ErrorCode::kInvalidArgument, query, " can only be called during a backward call.");
  }
  return *task;
}

}  // namespace

std::int64_t Engine::current_graph_task_id() {
  const GraphTask* task = GraphTask::current();
  return task == nullptr ? -1 : static_cast<std::int64_t>(task->id);
}

IntrusivePtr<Node> Engine::current_node() { return IntrusivePtr<Node>(GraphTask::current_node()); }

bool Engine::is_checkpoint_valid() {
  const GraphTask* task = GraphTask::current();
  return task == nullptr || task->can_checkpoint();
}

void Engine::queue_callback(std::function<void()> callback) {
  GraphTask* task = GraphTask::current();
  if (task == nullptr) {
    fail(ErrorCode::kInvalidArgument, "[queueCallback] can only be called during a backward call.");
  }
  task->add_final_callback(std::move(callback));
}

void Engine::keep_with_call(std::shared_ptr<void> something) {
  running_task("keep_with_call()").keep(std::move(something));
}

bool Engine::will_execute_node(const Node& fn) {
  GraphTask& task = running_task("will_execute_node");
  if (task.state_of(fn) == nullptr || !task.should_execute(fn)) return false;
  // A leaf that is only captured receives its gradient, but its node does not run.
  if (fn.num_outputs() == 0 && task.is_only_captured(fn)) {
    fail(ErrorCode::kInvalidArgument,
         "will_execute_node does not support leaf nodes during autograd.grad().");
  }
  return true;
}

std::vector<IntrusivePtr<Node>> Engine::current_graph_task_execution_order() {
  GraphTask& task = running_task("current_graph_task_execution_order");
  if (is_multithreading_enabled()) {
    fail(ErrorCode::kInvalidArgument,
         "current_graph_task_execution_order needs a backward call without multithreading. Call "
         "set_multithreading_enabled(false) first.");
  }
  const auto runs = [&](const Edge& edge) {
    return edge.is_valid() && task.should_execute(*edge.function);
  };
  // Counted again: part of the call may have run already.
  std::unordered_map<Node*, std::size_t> dependencies;
  std::vector<Node*> stack{task.root().get()};
  dependencies[stack[0]] = 0;
  while (!stack.empty()) {
    const Node* fn = stack.back();
    stack.pop_back();
    for (const Edge& edge : fn->next_edges()) {
      if (runs(edge) && dependencies[edge.function.get()]++ == 0) {
        stack.push_back(edge.function.get());
      }
    }
  }
  const auto older = [](const Node* a, const Node* b) {
    return a->sequence_nr() < b->sequence_nr();
  };
  std::vector<IntrusivePtr<Node>> order;
  std::vector<Node*> ready{task.root().get()};
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), older);
    Node* fn = ready.back();
    ready.pop_back();
    // The GraphRoot of several tensors is internal to the engine.
    if (fn->name() != GraphRoot::kName) order.emplace_back(fn);
    for (const Edge& edge : fn->next_edges()) {
      if (!runs(edge) || --dependencies[edge.function.get()] != 0) continue;
      ready.push_back(edge.function.get());
      std::push_heap(ready.begin(), ready.end(), older);
    }
  }
  return order;
}

}  // namespace eg
