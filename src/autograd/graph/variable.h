#pragma once

// The autograd metadata of a tensor.
//
// A tensor with a `grad_fn` is a result (non-leaf). One without is a leaf: its gradients reach its
// `.grad` through an AccumulateGrad node, which exists only as long as some graph holds it. A view
// also has a base: the root tensor whose storage it shares. An in-place change of a view rewrites
// the history of the base (CopySlices). Every other view of that base detects this by the version
// counter the next time its own grad_fn is requested, and makes a new one (as_strided of the base's
// current history). A base has no pointers to its views.

#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "autograd/forward_ad.h"
#include "autograd/graph/node.h"
#include "base/lazy.h"
#include "tensor/tensor.h"

namespace eg {

/// How a view was created, which decides whether it may be changed in place while recording.
enum class CreationMeta : std::uint8_t {
  kDefault,
  kInCustomFunction,
  kMultiOutputNode,
  kNoGradMode,
  kInferenceMode,
};

/// The part of a tensor's metadata that only views have.
struct ViewMeta : Pooled {
  Tensor base;
  /// creation_meta and attr_version are guarded by the mutex of the metadata.
  CreationMeta creation_meta = CreationMeta::kDefault;
  /// The version at which the history was made; the history is stale if the counter differs.
  std::uint32_t attr_version = 0;
};

/// The hooks of a tensor.
struct VariableHooks {
  /// Hooks of a leaf are stored here, not in its accumulator, which is destroyed with the graphs.
  HookList<TensorPreHook> tensor_hooks;
  HookList<PostAccumulateGradHook> post_accumulate_grad_hooks;
  /// Where a result's hook is: in the node that made the tensor at the time of the registration. A
  /// later in-place operation gives the tensor another node, but leaves its hooks there.
  struct HookLocation {
    const TensorPreHook* hook;
    WeakPtr<Node> node;
  };
  std::mutex mutex;
  std::vector<HookLocation> hook_locations;
  bool retains_grad = false;
};

struct AutogradMeta final : AutogradMetaBase {
  SharedCount<bool> requires_grad{false};
  /// Set when the tensor is made, before it is shared with another thread.
  std::unique_ptr<ViewMeta> view;
  /// The hooks of this tensor, if any; they have their own locks.
  Lazy<VariableHooks> hooks;

  // The other members may change at any time and need the mutex (lock_objects). It is not held
  // while an op runs or anything is destroyed.
  mutable std::mutex mutex;
  Tensor grad;
  WeakPtr<Node> grad_accumulator;
  std::unique_ptr<ForwardGrad> forward_grad;

  /// Returns true when a node made the tensor.
  bool has_history() const { return has_history_.load(); }
  /// The node that made the tensor, and the index of its output; may be stale for a view.
  Edge history() const {
    const auto lock = lock_objects(mutex);
    return history_;
  }
  std::uint32_t output_nr() const {
    const auto lock = lock_objects(mutex);
    return history_.input_nr;
  }
  /// Replaces the history and returns the previous one.
  [[nodiscard]] Edge exchange_history(Edge next) {
    const auto lock = lock_objects(mutex);
    return exchange_history_locked(std::move(next));
  }

  /// Versions for callers that hold the mutex.
  const Edge& history_locked() const { return history_; }
  [[nodiscard]] Edge exchange_history_locked(Edge next) {
    has_history_.store(next.is_valid());
    return std::exchange(history_, std::move(next));
  }

 private:
  Edge history_;
  /// Whether there is a history, readable without the mutex.
  SharedCount<bool> has_history_{false};
};

/// Returns the metadata of a tensor, or null when it has none.
inline AutogradMeta* autograd_meta(const Tensor& t) {
  return static_cast<AutogradMeta*>(t.autograd_meta());
}
/// Returns the metadata of a tensor, creating it if it has none.
AutogradMeta& ensure_autograd_meta(const Tensor& t);

bool requires_grad(const Tensor& t);
/// Sets the flag of a leaf. Throws NotDifferentiable for an integer or bool dtype, InvalidArgument
/// for clearing it on a non-leaf, InferenceTensor for an inference tensor outside inference mode.
void set_requires_grad(const Tensor& t, bool value);
/// Returns the node that made `t`; regenerates it when `t` is a view whose base was changed in
/// place.
IntrusivePtr<Node> grad_fn(const Tensor& t);
/// Returns true when grad_fn(t) is not null.
inline bool has_grad_fn(const Tensor& t) {
  const AutogradMeta* meta = autograd_meta(t);
  if (meta == nullptr) return false;
  return meta->view == nullptr ? meta->has_history() : grad_fn(t) != nullptr;
}
inline bool is_leaf(const Tensor& t) { return !has_grad_fn(t); }
/// Returns the node that made `t` and the index of its output; an edge without a node for a leaf.
Edge history(const Tensor& t);
std::uint32_t output_nr(const Tensor& t);
bool is_view(const Tensor& t);
/// Returns the base of a view, else undefined.
Tensor view_base(const Tensor& t);

/// Returns the accumulated gradient, or undefined.
Tensor grad(const Tensor& t);
/// Assigns `.grad`; undefined clears it. Throws on a mismatch of dtype, device or shape.
void set_grad(const Tensor& t, const Tensor& value);
/// Replaces the gradient `expected` by `next`; returns false if another thread has changed it
/// since.
bool replace_grad(const Tensor& t, const Tensor& expected, Tensor next);

/// Returns the edge for the gradient of `t`: to its grad_fn, to its accumulator, or to nothing.
Edge gradient_edge(const Tensor& t);
/// Returns the AccumulateGrad of a leaf that requires grad; all threads get the same one while it
/// lives.
IntrusivePtr<Node> grad_accumulator(const Tensor& t);
/// Returns the accumulator if some graph holds one, else null.
IntrusivePtr<Node> try_grad_accumulator(const Tensor& t);

/// Makes `node` the history of the fresh result `t`.
void set_history(const Tensor& t, const IntrusivePtr<Node>& node);
/// Makes `node` the history of `t` after an in-place change; for a view, also rewrites the history
/// of its base (CopySlices).
void rebase_history(const Tensor& t, const IntrusivePtr<Node>& node);

/// Gives `t`, which is not a view, the history of `from`.
void take_history(const Tensor& t, const Tensor& from);

/// Marks `t`, which must share `base`'s storage, as a view of `base` that autograd tracks. Does not
/// record a node.
void set_view(const Tensor& t, const Tensor& base, CreationMeta creation_meta);

/// Called when `t` gets a new node: moves its retain_grad hook there from the previous one. Its
/// other hooks stay, because they observe the old value.
void move_retains_grad_hook(const Tensor& t, const Edge& previous, const Edge& next);

/// Throws when an in-place change of `t` cannot be recorded. `recording` is true if some operand
/// requires grad.
void check_inplace(const Tensor& t, bool recording);

/// Registers a hook on the gradient of `t`.
void register_hook(const Tensor& t, std::shared_ptr<TensorPreHook> hook);
/// Removes a hook added with register_hook, from whichever node holds it; harmless if already
/// removed.
void remove_hook(const Tensor& t, const TensorPreHook* hook);
/// Registers a function that runs after a backward call has updated the `.grad` of the leaf `t`.
void register_post_accumulate_grad_hook(const Tensor& t,
                                        std::shared_ptr<PostAccumulateGradHook> hook);
void remove_post_accumulate_grad_hook(const Tensor& t, const PostAccumulateGradHook* hook);
/// Makes backward calls set the `.grad` of the result `t` too; has no effect on a leaf.
void retain_grad(const Tensor& t);
/// Returns true when retain_grad was called on the result `t`.
bool retains_grad(const Tensor& t);

/// Returns a tensor that shares values and version counter with `t`, without a history.
Tensor detach(const Tensor& t);
/// PyTorch's `x.data`: like detach, but with its own version counter, so that graphs that saved one
/// do not detect changes made through the other. For threads that train one model concurrently.
Tensor variable_data(const Tensor& t);
/// Removes `t` itself from its graph; throws ViewInPlace for a view.
void detach_in_place(const Tensor& t);

/// Returns true for a tensor made in inference mode, or a view of one: it cannot be part of a
/// graph.
inline bool is_inference(const Tensor& t) { return !t.has_version(); }

}  // namespace eg
