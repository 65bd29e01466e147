#pragma once

// What autograd knows about a tensor.
//
// A tensor with a `grad_fn` is a result (non-leaf); one without is a leaf, and gradients reach its
// `.grad` through an AccumulateGrad node that exists only as long as some graph holds it. A view
// additionally knows its base: the root tensor whose storage it shows. An in-place change of a view
// rewrites the history of the base (CopySlices), and every other view of it notices, by the version
// counter, the next time its own grad_fn is asked for, and makes a new one (as_strided of the
// base's current history). Nothing points from a base to its views.

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

/// How a view came to be, which decides whether it may be changed in place while recording.
enum class CreationMeta : std::uint8_t {
  kDefault,
  kInCustomFunction,
  kMultiOutputNode,
  kNoGradMode,
  kInferenceMode,
};

/// The view half of a tensor's metadata.
struct ViewMeta : Pooled {
  Tensor base;
  /// This and the next are guarded by the mutex of the metadata.
  CreationMeta creation_meta = CreationMeta::kDefault;
  /// The version at which the history was made; older than the counter means stale.
  std::uint32_t attr_version = 0;
};

/// The hooks of a tensor.
struct VariableHooks {
  /// Those of a leaf live here, not in its accumulator, which comes and goes with the graphs.
  HookList<TensorPreHook> tensor_hooks;
  HookList<PostAccumulateGradHook> post_accumulate_grad_hooks;
  /// Where the hooks of a result are: in the node that made it when they were registered. A later
  /// in-place operation gives the tensor another node and leaves them there.
  struct Place {
    const TensorPreHook* hook;
    WeakPtr<Node> node;
  };
  std::mutex mutex;
  std::vector<Place> places;
  bool retains_grad = false;
};

struct AutogradMeta final : AutogradMetaBase {
  SharedCount<bool> requires_grad{false};
  /// Made with the tensor, before another thread knows of it.
  std::unique_ptr<ViewMeta> view;
  /// Hooks of this tensor, where there are any; they have locks of their own.
  Lazy<VariableHooks> hooks;

  // The rest changes at any time: only with the mutex held (lock_objects), which is not held while
  // an op runs, or anything is destroyed.
  mutable std::mutex mutex;
  Tensor grad;
  WeakPtr<Node> grad_accumulator;
  std::unique_ptr<ForwardGrad> forward_grad;

  /// True when a node made the tensor.
  bool has_history() const { return has_history_.load(); }
  /// The node that made the tensor, with the number of its output; of a view it may be stale.
  Edge history() const {
    const auto lock = lock_objects(mutex);
    return history_;
  }
  std::uint32_t output_nr() const {
    const auto lock = lock_objects(mutex);
    return history_.input_nr;
  }
  /// Gives the tensor another history and returns the one before.
  [[nodiscard]] Edge exchange_history(Edge next) {
    const auto lock = lock_objects(mutex);
    return exchange_history_locked(std::move(next));
  }

  /// The same for who has the mutex.
  const Edge& history_locked() const { return history_; }
  [[nodiscard]] Edge exchange_history_locked(Edge next) {
    has_history_.store(next.is_valid());
    return std::exchange(history_, std::move(next));
  }

 private:
  Edge history_;
  /// Whether there is one, for those who ask only that.
  SharedCount<bool> has_history_{false};
};

/// The metadata of a tensor, or null when it has none.
inline AutogradMeta* autograd_meta(const Tensor& t) {
  return static_cast<AutogradMeta*>(t.autograd_meta());
}
/// The metadata of a tensor, made when it has none.
AutogradMeta& ensure_autograd_meta(const Tensor& t);

bool requires_grad(const Tensor& t);
/// Sets the flag of a leaf; NotDifferentiable for an integer dtype, InvalidArgument for a non-leaf,
/// InferenceTensor for an inference tensor outside inference mode.
void set_requires_grad(const Tensor& t, bool value);
/// The node that made `t`; regenerated when `t` is a view whose base was changed in place.
IntrusivePtr<Node> grad_fn(const Tensor& t);
/// True when grad_fn(t) is not null.
inline bool has_grad_fn(const Tensor& t) {
  const AutogradMeta* meta = autograd_meta(t);
  if (meta == nullptr) return false;
  return meta->view == nullptr ? meta->has_history() : grad_fn(t) != nullptr;
}
inline bool is_leaf(const Tensor& t) { return !has_grad_fn(t); }
/// The node that made `t` with the number of its output; no node for a leaf.
Edge history(const Tensor& t);
std::uint32_t output_nr(const Tensor& t);
bool is_view(const Tensor& t);
/// The base of a view, else undefined.
Tensor view_base(const Tensor& t);

/// The accumulated gradient, or undefined.
Tensor grad(const Tensor& t);
/// Assigns `.grad`; undefined clears it. Checks dtype, device and shape.
void set_grad(const Tensor& t, const Tensor& value);
/// Makes `next` the gradient unless another thread has changed it since it was `expected`.
bool replace_grad(const Tensor& t, const Tensor& expected, Tensor next);

/// Where a gradient for `t` goes: its grad_fn, its accumulator, or nowhere.
Edge gradient_edge(const Tensor& t);
/// The AccumulateGrad of a leaf that requires grad, the same one for all threads while it lives.
IntrusivePtr<Node> grad_accumulator(const Tensor& t);
/// The accumulator if some graph holds one now, else null.
IntrusivePtr<Node> try_grad_accumulator(const Tensor& t);

/// Makes `node` the history of the fresh result `t`.
void set_history(const Tensor& t, const IntrusivePtr<Node>& node);
/// Makes `node` the history of `t` after an in-place change; on a view, of its base (CopySlices).
void rebase_history(const Tensor& t, const IntrusivePtr<Node>& node);

/// Puts `t`, which is no view, at the place of `from` in the graph.
void take_history(const Tensor& t, const Tensor& from);

/// A view of `base` that autograd tracks; `t` must alias base's storage. No record is made here.
void set_view(const Tensor& t, const Tensor& base, CreationMeta creation_meta);

/// Called when `t` got a new node: moves its retain_grad hook there from the one before, if any.
/// Its other hooks stay, because they watch the old value.
void move_retains_grad_hook(const Tensor& t, const Edge& previous, const Edge& next);

/// Throws when an in-place change of `t` cannot be recorded; `recording` = some operand needs grad.
void check_inplace(const Tensor& t, bool recording);

/// Registers a hook on the gradient of `t`.
void register_hook(const Tensor& t, std::shared_ptr<TensorPreHook> hook);
/// Removes a hook of register_hook, wherever in-place operations have left it; twice is harmless.
void remove_hook(const Tensor& t, const TensorPreHook* hook);
/// Registers a function that runs when a backward call has updated the `.grad` of the leaf `t`.
void register_post_accumulate_grad_hook(const Tensor& t,
                                        std::shared_ptr<PostAccumulateGradHook> hook);
void remove_post_accumulate_grad_hook(const Tensor& t, const PostAccumulateGradHook* hook);
/// Makes backward calls fill the `.grad` of the result `t` too; a leaf has that anyway.
void retain_grad(const Tensor& t);
/// True when retain_grad was called on the result `t`.
bool retains_grad(const Tensor& t);

/// A tensor that shares values and version counter with `t`, outside of any graph.
Tensor detach(const Tensor& t);
/// PyTorch's `x.data`: like detach, but it counts versions of its own, so that changes made through
/// one are not noticed by graphs that saved the other. For threads that train one model at once.
Tensor variable_data(const Tensor& t);
/// Takes `t` itself out of its graph; throws ViewInPlace for a view.
void detach_in_place(const Tensor& t);

/// True for a tensor made in inference mode, or a view of one: no graph can hold it.
inline bool is_inference(const Tensor& t) { return !t.has_version(); }

}  // namespace eg
