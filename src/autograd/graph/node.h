#pragma once

// The backward graph.
//
// Every recorded operation makes one Node: the function that maps the gradients of its outputs to
// the gradients of its inputs. Nodes mirror the operations:
//
//   forward:   a, b --op--> out          backward:   grad(out) --node--> grad(a), grad(b)
//
// A node therefore has as many inputs as the operation had outputs (input_metadata), and as many
// outputs as the operation had inputs (next_edges). An Edge (function, input_nr) means "this
// gradient goes to slot input_nr of that node". Gradients that arrive at the same slot are summed.
// An edge without a function belongs to an input that needs no gradient. The graph is a DAG whose
// leaves are AccumulateGrad nodes. A tensor points to the node that made it (grad_fn), and a node
// never points to its output, so dropping the tensors frees the graph.
//
// Order. `sequence_nr` grows with every node made on a thread. The engine runs newer nodes first,
// which affects performance, not correctness. `topological_nr` is the length of the longest path to
// a leaf: X can only precede Y on a path if its number is greater, which lets grad() skip nodes
// that cannot lead to its inputs.
//
// Ownership and threads. Nodes are reference counted. Releasing the last reference to a chain of a
// million nodes must not recurse, so releases are queued per thread and processed in a loop
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
#include "base/heap/pool.h"
#include "base/intrusive_ptr.h"
#include "base/lazy.h"
#include "base/sharing.h"
#include "base/small_vector.h"
#include "tensor/tensor.h"

namespace eg {

class GraphTask;
class Node;
struct AnomalyMetadata;
struct NodeExtras;
class SavedVariable;

/// A saved tensor of a node, with the name by which it is looked up.
struct NamedSavedVariable {
  std::string name;
  SavedVariable* variable;
};

/// A named number of a node.
struct NamedNumber {
  std::string_view name;
  double value;
};

/// The gradients that enter or leave a node, one slot per forward output or input.
using GradList = SmallVector<Tensor, 3>;

/// The destination of a gradient: an input slot of a node, or none if `function` is null.
struct Edge {
  IntrusivePtr<Node> function;
  std::uint32_t input_nr = 0;

  bool is_valid() const { return function != nullptr; }
};
using EdgeList = SmallVector<Edge, 3>;

/// The shape, dtype and device that a gradient in a slot must have: those of the forward output.
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

  /// PyTorch's name for the node, for example "MulBackward0".
  virtual std::string name() const = 0;

  /// The leaf whose gradient an AccumulateGrad accumulates; null for any other node.
  virtual const Tensor* leaf() const { return nullptr; }

  /// Whether apply() takes sparse gradients; for other nodes they are made dense.
  virtual bool takes_sparse_gradients() const { return false; }

  /// Maps num_inputs() gradients to num_outputs() gradients. Undefined means zero, on both sides.
  virtual GradList apply(GradList&& grads) = 0;

  /// The tensors saved for apply(), under PyTorch's names: self, other, result, ..., or in a custom
  /// function under their numbers.
  virtual std::vector<NamedSavedVariable> saved_variables() { return {}; }
  /// The numbers that apply() uses besides tensors, by name: alpha, negative_slope, ...
  virtual std::vector<NamedNumber> saved_numbers() const { return {}; }

  /// Frees the tensors saved for apply(); a second apply() then throws GraphFreed.
  virtual void release_variables() {}

  /// Drops everything this node keeps alive. Called when only weak references to it are left.
  virtual void clear();

  std::uint32_t add_input_metadata(const Tensor& output);
  /// Adds a slot for an output that never has a gradient: not a tensor, or not differentiable.
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

  /// Returns true when output `i` needs a gradient.
  bool should_compute_output(std::size_t i) const { return next_edges_[i].is_valid(); }
  /// Like should_compute_output(), but also requires that the running backward call needs the
  /// output.
  bool task_should_compute_output(std::size_t i) const;

  std::uint64_t sequence_nr() const { return sequence_nr_; }
  /// Reading the number freezes the edges: it must not change once the node has a parent.
  std::uint64_t topological_nr() const {
    // Checked first, because a sequentially consistent store costs as much as an atomic operation.
    if (!has_parent_.load(std::memory_order_relaxed))
      has_parent_.store(true, std::memory_order_relaxed);
    return topological_nr_;
  }

  /// Appends a hook that receives, and may replace, the gradient that enters slot `input_nr`.
  void add_tensor_pre_hook(std::uint32_t input_nr, std::shared_ptr<TensorPreHook> hook);
  void remove_tensor_pre_hook(const TensorPreHook* hook);
  /// Makes `hook` receive the gradient of slot `output_nr` after all tensor hooks, as retain_grad
  /// does.
  void add_retains_grad_hook(std::uint32_t output_nr, std::shared_ptr<TensorPreHook> hook);
  /// Removes and returns the hook of add_retains_grad_hook, or null.
  std::shared_ptr<TensorPreHook> take_retains_grad_hook(std::uint32_t output_nr);
  /// Appends a hook that receives, and may replace, the input of apply().
  void add_pre_hook(std::shared_ptr<NodePreHook> hook);
  void remove_pre_hook(const NodePreHook* hook);
  /// Appends a hook that receives, and may replace, the result of apply().
  void add_post_hook(std::shared_ptr<NodePostHook> hook);
  void remove_post_hook(const NodePostHook* hook);

  /// Returns true when hooks may have to run around apply().
  virtual bool has_hooks() const { return extras_.get() != nullptr; }
  bool has_post_hooks() const { return extras_.get() != nullptr && post_hook_registered(); }
  /// Runs the hooks of the tensors that the slots of `grads` belong to, then the retain_grad hooks.
  virtual void run_tensor_pre_hooks(GradList& grads);
  void run_pre_hooks(GradList& grads);
  void run_post_hooks(GradList& outputs, const GradList& inputs);

  /// Where this node was made; null unless that was in anomaly mode.
  const AnomalyMetadata* metadata() const;

  /// Data that a user of the graph attached to this node; null at first.
  std::shared_ptr<void> user_data() const;
  /// Returns the user data, creating it with `make` if there is none.
  std::shared_ptr<void> ensure_user_data(std::shared_ptr<void> (*make)());

  std::mutex& mutex() const { return mutex_; }

  static void on_last_release(Node* node);
  /// The number of existing nodes.
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
  // The backward call that claimed this node, and the index of the node in that call's tables: an
  // index instead of a hash lookup per edge. See GraphTask::state_of.
  SharedClaim<GraphTask> claimed_by_;
  std::uint32_t claimed_index_ = 0;
  /// Links nodes that wait to be destroyed; see on_last_release.
  Node* next_pending_ = nullptr;
  Lazy<NodeExtras> extras_;
  mutable std::mutex mutex_;
};

/// The sequence number of nodes that accumulate into leaves: the largest, so they run as soon as
/// they are ready.
inline constexpr std::uint64_t kAccumulateGradSequenceNr =
    std::numeric_limits<std::uint64_t>::max();

}  // namespace eg
