// compile: engine

#include "autograd/graph/node.h"

#include <algorithm>
#include <utility>

#include "autograd/engine/graph_task.h"
#include "autograd/graph/node_extras.h"
#include "base/error.h"

namespace eg {
namespace {

constinit SharedCount<std::int64_t> live_nodes;

std::uint64_t next_sequence_nr() {
  static thread_local std::uint64_t counter = 0;
  return counter++;
}

}  // namespace

Node::Node(EdgeList&& next_edges) : Node(std::move(next_edges), next_sequence_nr()) {}

Node::Node(EdgeList&& next_edges, std::uint64_t sequence_nr)
    : next_edges_(std::move(next_edges)), sequence_nr_(sequence_nr) {
  for (const Edge& edge : next_edges_) update_topological_nr(edge);
  if (AnomalyMode::is_enabled()) [[unlikely]] {
    extras_.ensure().metadata = std::make_unique<AnomalyMetadata>(capture_anomaly_metadata());
  }
  // Last: the destructor, which counts down, does not run if the constructor throws.
  live_nodes.increment();
}

Node::~Node() { live_nodes.add(-1); }

std::int64_t Node::live_count() { return live_nodes.load(); }

void Node::on_last_release(Node* node) {
  // Deleting a node may drop the last reference to its neighbors, through edges or saved tensors.
  // Only the outermost release on a thread deletes; inner ones queue their node. The queue is an
  // intrusive list, because nodes are also released when memory has run out.
  struct Pending {
    Node* newest = nullptr;
    bool draining = false;
  };
  static thread_local Pending pending;
  if (pending.draining) {
    node->next_pending_ = std::exchange(pending.newest, node);
    return;
  }
  pending.draining = true;
  while (node != nullptr) {
    if (WeakPtr<Node>::has_no_weak_references(node)) {
      delete node;
    } else {
      node->clear();
      WeakPtr<Node>::drop(node);
    }
    node = pending.newest;
    if (node != nullptr) pending.newest = node->next_pending_;
  }
  pending.draining = false;
}

void Node::clear() {
  release_variables();
  next_edges_.clear();
  extras_.reset();
}

std::uint32_t Node::add_input_metadata(const Tensor& output) {
  input_metadata_.emplace_back(output);
  return num_inputs() - 1;
}

std::uint32_t Node::add_undefined_input() {
  input_metadata_.emplace_back();
  return num_inputs() - 1;
}

void Node::set_next_edges(EdgeList edges) {
  next_edges_ = std::move(edges);
  for (const Edge& edge : next_edges_) update_topological_nr(edge);
}

void Node::add_next_edge(Edge edge) {
  update_topological_nr(edge);
  next_edges_.push_back(std::move(edge));
}

void Node::update_topological_nr(const Edge& edge) {
  if (edge.function == nullptr) return;
  invariant(
      !has_parent_.load(std::memory_order_relaxed),
      "the edges of a node cannot change once it has a parent, whose topological_nr is greater.");
  topological_nr_ = std::max(topological_nr_, edge.function->topological_nr() + 1);
}

Device Node::device() const {
  for (const InputMetadata& metadata : input_metadata_) {
    if (!metadata.device.is_cpu()) return metadata.device;
  }
  return {};
}

bool Node::task_should_compute_output(std::size_t i) const {
  if (!should_compute_output(i)) return false;
  GraphTask* task = GraphTask::current();
  return task == nullptr || task->should_execute(*next_edges_[i].function);
}

void Node::add_tensor_pre_hook(std::uint32_t input_nr, std::shared_ptr<TensorPreHook> hook) {
  extras_.ensure().tensor_pre_hooks.add(std::move(hook), input_nr);
}

void Node::remove_tensor_pre_hook(const TensorPreHook* hook) {
  if (NodeExtras* extras = extras_.get()) extras->tensor_pre_hooks.remove(hook);
}

void Node::add_retains_grad_hook(std::uint32_t output_nr, std::shared_ptr<TensorPreHook> hook) {
  extras_.ensure().retains_grad_hooks.add(std::move(hook), output_nr);
}

std::shared_ptr<TensorPreHook> Node::take_retains_grad_hook(std::uint32_t output_nr) {
  NodeExtras* extras = extras_.get();
  return extras == nullptr ? nullptr : extras->retains_grad_hooks.take_slot(output_nr);
}

void Node::add_pre_hook(std::shared_ptr<NodePreHook> hook) {
  extras_.ensure().pre_hooks.add(std::move(hook));
}

void Node::remove_pre_hook(const NodePreHook* hook) {
  if (NodeExtras* extras = extras_.get()) extras->pre_hooks.remove(hook);
}

void Node::add_post_hook(std::shared_ptr<NodePostHook> hook) {
  extras_.ensure().post_hooks.add(std::move(hook));
}

void Node::remove_post_hook(const NodePostHook* hook) {
  if (NodeExtras* extras = extras_.get()) extras->post_hooks.remove(hook);
}

bool Node::post_hook_registered() const { return !extras_.get()->post_hooks.empty(); }

void Node::run_tensor_pre_hooks(GradList& grads) {
  const NodeExtras* extras = extras_.get();
  if (extras == nullptr) return;
  run_tensor_hooks(extras->tensor_pre_hooks, grads);
  run_tensor_hooks(extras->retains_grad_hooks, grads);
}

void Node::run_pre_hooks(GradList& grads) {
  const NodeExtras* extras = extras_.get();
  if (extras == nullptr) return;
  for (const auto& [hook, slot] : extras->pre_hooks.snapshot()) {
    GradList result = (*hook)(grads);
    check_hook_result(grads, result, *hook);
    grads = std::move(result);
  }
}

void Node::run_post_hooks(GradList& outputs, const GradList& inputs) {
  const NodeExtras* extras = extras_.get();
  if (extras == nullptr) return;
  for (const auto& [hook, slot] : extras->post_hooks.snapshot()) {
    GradList result = (*hook)(outputs, inputs);
    check_hook_result(outputs, result, *hook);
    outputs = std::move(result);
  }
}

std::shared_ptr<void> Node::user_data() const {
  const NodeExtras* extras = extras_.get();
  if (extras == nullptr) return nullptr;
  const std::scoped_lock lock(mutex_);
  return extras->user_data;
}

std::shared_ptr<void> Node::ensure_user_data(std::shared_ptr<void> (*make)()) {
  NodeExtras& extras = extras_.ensure();
  const std::scoped_lock lock(mutex_);
  if (extras.user_data == nullptr) extras.user_data = make();
  return extras.user_data;
}

const AnomalyMetadata* Node::metadata() const {
  const NodeExtras* extras = extras_.get();
  return extras == nullptr ? nullptr : extras->metadata.get();
}

}  // namespace eg
