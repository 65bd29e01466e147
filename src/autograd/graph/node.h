#pragma once

// The backward graph.
//
// Every recorded operation makes one Node: the function that turns gradients of its outputs into
// gradients of its inputs. Node and tensor views of the same thing:
//
//   forward:   a, b --op--> out          backward:   grad(out) --node--> grad(a), grad(b)
//
// so a node has as many inputs as the operation had outputs (input_metadata) and as many outputs as
// the operation had inputs (next_edges). An Edge (function, input_nr) says: "my gradient goes into
// slot input_nr of that node". Gradients that meet in one slot are summed. An edge without a
// function leads to an input that needs no gradient. The graph is a DAG whose leaves are
// AccumulateGrad nodes; a tensor points to the node that made it (grad_fn), never a node to its
// output, so dropping the tensors frees the graph.
//
// Order. `sequence_nr` grows with every node made on a thread: the engine runs newer nodes first,
// which is never needed for correctness. `topological_nr` is the longest path to a leaf: X can only
// lie above Y if its number is greater, which lets grad() skip what cannot matter.
//
// Ownership and threads. Nodes are reference counted. Destroying the last reference to a chain of a
// million nodes must not recurse, so releases are queued per thread and worked off in a loop
// (Node::on_last_release). apply() and release_variables() may race on a shared graph; a node with
// state locks `mutex()`.

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/hooks/hooks.h"
#include "base/intrusive_ptr.h"
#include "base/lazy.h"
#include "base/pool.h"
#include "base/sharing.h"
#include "base/small_vector.h"
#include "tensor/tensor.h"

namespace eg {

class GraphTask;
class Node;
struct AnomalyMetadata;
struct NodeExtras;
class SavedVariable;

/// A slot for a tensor a node keeps, under the name by which it is looked up.
struct NamedSavedVariable {
  std::string_view name;
  SavedVariable* variable;
};

/// A number a node works with.
struct NamedNumber {
  std::string_view name;
  double value;
};

/// The gradients that enter or leave a node, one slot per forward output or input.
using GradList = SmallVector<Tensor, 3>;

/// Where a gradient goes: an input slot of a node, or nowhere when `function` is null.
struct Edge {
  IntrusivePtr<Node> function;
  std::uint32_t input_nr = 0;

  bool is_valid() const { return function != nullptr; }
};
using EdgeList = SmallVector<Edge, 3>;

/// What a gradient must look like to fit a slot: the forward output it belongs to.
struct InputMetadata {
  Shape shape;
  DType dtype = DType::kFloat32;
  Device device;

  InputMetadata() = default;
  explicit InputMetadata(const Tensor& t)
      : shape(t.shape()), dtype(t.dtype()), device(t.device()) {}
};

class Node : public RefCounted, public Pooled {
 public:
  explicit Node(EdgeList&& next_edges = {});
  virtual ~Node();

  /// PyTorch's name of the node, for example "MulBackward0".
  virtual std::string name() const = 0;

  /// The leaf to which an AccumulateGrad adds; null for any other node.
  virtual const Tensor* leaf() const { return nullptr; }

  /// Maps num_inputs() gradients to num_outputs() gradients. Undefined means zero, on both sides.
  virtual GradList apply(GradList&& grads) = 0;

  /// The slots of what was saved for apply(), in PyTorch's names: self, other, result, ...
  virtual std::vector<NamedSavedVariable> saved_variables() { return {}; }
  /// The numbers the node works with besides tensors, by their names: alpha, negative_slope, ...
  virtual std::vector<NamedNumber> saved_numbers() const { return {}; }

  /// Frees what was saved for apply(); a second apply() then reports GraphFreed.
  virtual void release_variables() {}

  /// Drops all this node keeps alive; called when only weak references to it are left.
  virtual void clear();

  std::uint32_t add_input_metadata(const Tensor& output);
  /// A slot for an output that never has a gradient: no tensor, or not differentiable.
  std::uint32_t add_undefined_input();
  std::uint32_t num_inputs() const { return static_cast<std::uint32_t>(input_metadata_.size()); }
  const InputMetadata& input_metadata(std::size_t i) const { return input_metadata_[i]; }
  std::uint32_t num_outputs() const { return static_cast<std::uint32_t>(next_edges_.size()); }
  const Edge& next_edge(std::size_t i) const { return next_edges_[i]; }
  const EdgeList& next_edges() const { return next_edges_; }
  void set_next_edges(EdgeList edges);
  void add_next_edge(Edge edge);

  /// The device whose queue runs this node: the first accelerator among its inputs, else the CPU.
  Device device() const;

  /// True when output `i` leads somewhere.
  bool should_compute_output(std::size_t i) const { return next_edges_[i].is_valid(); }
  /// should_compute_output, and the running backward call wants it.
  bool task_should_compute_output(std::size_t i) const;

  std::uint64_t sequence_nr() const { return sequence_nr_; }
  /// Reading freezes the edges: a node that has a parent must not change its number any more.
  std::uint64_t topological_nr() const {
    // A store costs what an atomic operation does.
    if (!has_parent_.load(std::memory_order_relaxed))
      has_parent_.store(true, std::memory_order_relaxed);
    return topological_nr_;
  }

  /// Appends a hook that sees, and may replace, the gradient that enters slot `input_nr`.
  void add_tensor_pre_hook(std::uint32_t input_nr, std::shared_ptr<TensorPreHook> hook);
  void remove_tensor_pre_hook(const TensorPreHook* hook);
  /// Makes `hook` see the gradient of slot `output_nr` after all tensor hooks, as retain_grad does.
  void add_retains_grad_hook(std::uint32_t output_nr, std::shared_ptr<TensorPreHook> hook);
  /// Removes and returns the hook of add_retains_grad_hook, or null.
  std::shared_ptr<TensorPreHook> take_retains_grad_hook(std::uint32_t output_nr);
  /// Appends a hook that sees, and may replace, what apply() gets.
  void add_pre_hook(std::shared_ptr<NodePreHook> hook);
  void remove_pre_hook(const NodePreHook* hook);
  /// Appends a hook that sees, and may replace, what apply() returned.
  void add_post_hook(std::shared_ptr<NodePostHook> hook);
  void remove_post_hook(const NodePostHook* hook);

  /// True when some hook may have to run around apply().
  virtual bool has_hooks() const { return extras_.get() != nullptr; }
  bool has_post_hooks() const { return extras_.get() != nullptr && post_hook_registered(); }
  /// Runs the hooks of the tensors behind the slots of `grads`, then the retain_grad hooks.
  virtual void run_tensor_pre_hooks(GradList& grads);
  void run_pre_hooks(GradList& grads);
  void run_post_hooks(GradList& outputs, const GradList& inputs);

  /// Where this node was made; null unless it was in anomaly mode.
  const AnomalyMetadata* metadata() const;

  /// What somebody who looks at the graph keeps with this node; null at first.
  std::shared_ptr<void> user_data() const;
  /// The same, made by `make` if there is nothing.
  std::shared_ptr<void> ensure_user_data(std::shared_ptr<void> (*make)());

  std::mutex& mutex() const { return mutex_; }

  static void on_last_release(Node* node);
  /// Nodes alive now.
  static std::int64_t live_count();

 protected:
  /// AccumulateGrad's constructor: `sequence_nr` instead of the thread's counter.
  Node(EdgeList&& next_edges, std::uint64_t sequence_nr);

 private:
  friend class GraphTask;

  void update_topological_nr(const Edge& edge);
  bool post_hook_registered() const;

  EdgeList next_edges_;
  SmallVector<InputMetadata, 1> input_metadata_;
  std::uint64_t sequence_nr_;
  std::uint64_t topological_nr_ = 0;
  mutable std::atomic<bool> has_parent_{false};
  // The backward call that claimed this node, and the node's place in that call's tables: an index
  // instead of a hash look-up per edge. See GraphTask::state_of.
  SharedClaim<GraphTask> claimed_by_;
  std::uint32_t claimed_index_ = 0;
  /// While it waits for its end: see on_last_release.
  Node* next_pending_ = nullptr;
  Lazy<NodeExtras> extras_;
  mutable std::mutex mutex_;
};

/// The sequence number of nodes that accumulate into leaves: they run as soon as they are ready.
inline constexpr std::uint64_t kAccumulateGradSequenceNr =
    std::numeric_limits<std::uint64_t>::max();

}  // namespace eg
