#include "autograd/graph/variable.h"

#include "autograd/grad_mode.h"
#include "autograd/graph/accumulate_grad.h"
#include "autograd/graph/copy_slices.h"
#include "autograd/graph/recorded_tensors.h"
#include "autograd/tensor_math.h"
#include "base/error.h"

namespace eg {
namespace {

bool is_stale(const Tensor& t, const AutogradMeta& meta) {
  return meta.view->attr_version != t.version();
}

std::string_view creation_reason(CreationMeta reason) {
  switch (reason) {
    case CreationMeta::kMultiOutputNode:
      return " This view is the output of a function that returns multiple views. Such functions "
             "do not allow the output views to be modified inplace. You should replace the inplace "
             "operation by an out-of-place one.";
    case CreationMeta::kInCustomFunction:
      return " This view was created inside a custom Function (or because an input was returned "
             "as-is) and the autograd logic to handle view+inplace would override the custom "
             "backward associated with the custom Function, leading to incorrect gradients. This "
             "behavior is forbidden. You can fix this by cloning the output of the custom "
             "Function.";
    case CreationMeta::kNoGradMode:
      return " Given that this use case is ambiguous and error-prone, it is forbidden. You can "
             "clarify your code by moving both the view and the inplace either both inside the "
             "no_grad block (if you don't want the inplace to be tracked) or both outside (if you "
             "want the inplace to be tracked).";
    case CreationMeta::kInferenceMode:
      return " Given that this use case is ambiguous and error-prone, it is forbidden. You can "
             "clarify your code by moving both the view and the inplace either both inside the "
             "inference_mode block (if you don't want the inplace to be tracked) or both outside "
             "(if you want the inplace to be tracked).";
    case CreationMeta::kDefault:
      break;
  }
  return "";
}

// PyTorch's two-part sentence: who is being modified, and why that is forbidden. With the mutex of
// `meta` held.
[[noreturn]] void fail_view_in_place(const AutogradMeta& meta, bool indirect) {
  const CreationMeta reason = meta.view->creation_meta;
  const std::string_view modified =
      indirect ? " and its base or another view of its base has been" : " and is being";
  const Edge& history = meta.history_locked();
  std::string maker;
  if (history.is_valid()) {
    maker = join_text("Output ", history.input_nr, " of ", history.function->name(), " is a view");
  }
  std::string who;
  if (reason == CreationMeta::kInferenceMode) {
    who = join_text(
        maker.empty() ? "A view was created in" : maker + " of a view which was created in",
        " inference mode", modified, " modified inplace in normal mode.");
  } else if (reason == CreationMeta::kNoGradMode || maker.empty()) {
    // Without a grad_fn the view was made under no_grad, whatever restricts it.
    who = join_text(
        maker.empty() ? "A view was created in" : maker + " of a view which was created in",
        " no_grad mode", modified, " modified inplace with grad mode enabled.");
  } else {
    who = join_text(maker, modified, " modified inplace.");
  }
  fail(ErrorCode::kViewInPlace, who, creation_reason(reason));
}

void note_set_grad(const Tensor& t) {
  if (Recording* const noted = recording()) [[unlikely]]
    noted->tensors->note_set(t);
}

}  // namespace

AutogradMeta& ensure_autograd_meta(const Tensor& t) {
  if (t.autograd_meta() == nullptr) t.attach_autograd_meta(std::make_unique<AutogradMeta>());
  return *autograd_meta(t);
}

bool requires_grad(const Tensor& t) {
  if (!t.defined()) return false;
  const AutogradMeta* meta = autograd_meta(t);
  if (meta == nullptr) return false;
  return meta->requires_grad.load() || (meta->view != nullptr && requires_grad(meta->view->base)) ||
         meta->has_history();
}

void set_requires_grad(const Tensor& t, bool value) {
  if (value && is_inference(t) && !is_inference_mode_enabled()) {
    fail(ErrorCode::kInferenceTensor,
         "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  }
  if (value && !is_differentiable(t.dtype())) {
    fail(ErrorCode::kNotDifferentiable,
         "[requires_grad_] only Tensors of floating point and complex dtype can require gradients, "
         "got ",
         t.dtype(), '.');
  }
  if (!is_leaf(t)) {
    if (value) return;
    fail(ErrorCode::kInvalidArgument,
         "[requires_grad_] you can only change requires_grad flags of leaf variables. If you want "
         "to use a computed variable in a subgraph that doesn't require differentiation use "
         "var_no_grad = var.detach().");
  }
  if (!value && autograd_meta(t) == nullptr) return;
  ensure_autograd_meta(t).requires_grad.store(value);
}

namespace {

// The history of a view, made anew if its base was changed since it was made.
Edge view_history(const Tensor& t, AutogradMeta& meta) {
  Edge previous;
  const auto lock = lock_objects(meta.mutex);
  const Tensor& base = meta.view->base;
  const bool base_requires_grad = requires_grad(base);
  if (!meta.history_locked().is_valid() && !base_requires_grad) return {};
  if (is_stale(t, meta)) {
    if (meta.view->creation_meta != CreationMeta::kDefault) fail_view_in_place(meta, true);
    if (base_requires_grad) {
      IntrusivePtr<Node> node = math::view_part_node(base, t);
      node->add_next_edge(gradient_edge(base));
      node->add_input_metadata(t);
      const Edge next{std::move(node), 0};
      previous = meta.exchange_history_locked(next);
      move_retains_grad_hook(t, previous, next);
    }
    meta.view->attr_version = t.version();
  }
  return meta.history_locked();
}

}  // namespace

Edge history(const Tensor& t) {
  AutogradMeta* meta = autograd_meta(t);
  if (meta == nullptr) return {};
  return meta->view == nullptr ? meta->history() : view_history(t, *meta);
}

IntrusivePtr<Node> grad_fn(const Tensor& t) { return history(t).function; }

std::uint32_t output_nr(const Tensor& t) {
  const AutogradMeta* meta = autograd_meta(t);
  return meta == nullptr ? 0 : meta->output_nr();
}

bool is_view(const Tensor& t) {
  const AutogradMeta* meta = autograd_meta(t);
  return meta != nullptr && meta->view != nullptr;
}

Tensor view_base(const Tensor& t) { return is_view(t) ? autograd_meta(t)->view->base : Tensor(); }

Tensor grad(const Tensor& t) {
  const AutogradMeta* meta = autograd_meta(t);
  if (meta == nullptr) return {};
  const auto lock = lock_objects(meta->mutex);
  return meta->grad;
}

bool replace_grad(const Tensor& t, const Tensor& expected, Tensor next) {
  AutogradMeta& meta = ensure_autograd_meta(t);
  const auto lock = lock_objects(meta.mutex);
  if (!meta.grad.is_same(expected)) return false;
  // What was there is destroyed after the lock is gone.
  std::swap(meta.grad, next);
  return true;
}

void set_grad(const Tensor& t, const Tensor& value) {
  Tensor replaced = value;
  const auto exchange = [&replaced](AutogradMeta& meta) {
    const auto lock = lock_objects(meta.mutex);
    std::swap(meta.grad, replaced);
  };
  if (!value.defined()) {
    if (AutogradMeta* meta = autograd_meta(t)) exchange(*meta);
    note_set_grad(t);
    return;
  }
  check(!value.is_same(t), ErrorCode::kInvalidArgument, "grad",
        "can't assign Variable as its own grad.");
  check(value.dtype() == t.dtype(), ErrorCode::kDtypeMismatch, "grad",
        "assigned grad has data of a different type: expected ", t.dtype(), ", got ", value.dtype(),
        '.');
  check(value.device() == t.device(), ErrorCode::kDeviceMismatch, "grad",
        "assigned grad has data located on a different device: expected ", t.device(), ", got ",
        value.device(), '.');
  check(value.shape() == t.shape(), ErrorCode::kShapeMismatch, "grad",
        "attempting to assign a gradient of size '", value.shape(), "' to a tensor of size '",
        t.shape(), "'. Please ensure that the gradient and the tensor are the same size.");
  exchange(ensure_autograd_meta(t));
  note_set_grad(t);
}

Edge gradient_edge(const Tensor& t) {
  if (!t.defined()) return {};
  if (Edge made_by = history(t); made_by.is_valid()) return made_by;
  if (!requires_grad(t)) return {};
  return {grad_accumulator(t), 0};
}

IntrusivePtr<Node> grad_accumulator(const Tensor& t) {
  AutogradMeta* meta = autograd_meta(t);
  if (meta == nullptr || !requires_grad(t)) return nullptr;
  invariant(!meta->has_history(), "grad_accumulator() should be only called on leaf Variables.");
  const auto lock = lock_objects(meta->mutex);
  if (IntrusivePtr<Node> node = meta->grad_accumulator.lock()) return node;
  IntrusivePtr<Node> node = make_intrusive<AccumulateGrad>(t);
  meta->grad_accumulator = WeakPtr<Node>(node);
  return node;
}

IntrusivePtr<Node> try_grad_accumulator(const Tensor& t) {
  AutogradMeta* meta = autograd_meta(t);
  if (meta == nullptr) return nullptr;
  const auto lock = lock_objects(meta->mutex);
  return meta->grad_accumulator.lock();
}

void set_history(const Tensor& t, const IntrusivePtr<Node>& node) {
  AutogradMeta& meta = ensure_autograd_meta(t);
  const Edge previous = meta.exchange_history({node, node->add_input_metadata(t)});
  if (previous.is_valid()) move_retains_grad_hook(t, previous, meta.history());
}

void rebase_history(const Tensor& t, const IntrusivePtr<Node>& node) {
  AutogradMeta& meta = ensure_autograd_meta(t);
  if (meta.view == nullptr) {
    set_history(t, node);
    return;
  }
  invariant(node->num_inputs() == 0 || node->num_outputs() > 0,
            "Functions which modify views in-place must return a single Variable.");
  node->add_input_metadata(t);
  const Tensor base = meta.view->base;
  set_history(base, make_intrusive<CopySlices>(base, t, node));
  // Regenerates the view's own grad_fn on top of the base's new history.
  grad_fn(t);
}

void take_history(const Tensor& t, const Tensor& from) {
  const Edge next = history(from);
  const Edge previous = ensure_autograd_meta(t).exchange_history(next);
  if (previous.is_valid()) move_retains_grad_hook(t, previous, next);
}

void set_view(const Tensor& t, const Tensor& base, CreationMeta creation_meta) {
  // Nothing of an inference tensor can be recorded, so there is no history to keep in step.
  if (is_inference(base)) return;
  AutogradMeta& meta = ensure_autograd_meta(t);
  meta.view = std::make_unique<ViewMeta>();
  const AutogradMeta* base_meta = autograd_meta(base);
  if (base_meta != nullptr && base_meta->view != nullptr) {
    meta.view->base = base_meta->view->base;
    // A view of a restricted view is restricted too.
    if (creation_meta == CreationMeta::kDefault) {
      const auto lock = lock_objects(base_meta->mutex);
      creation_meta = base_meta->view->creation_meta;
    }
  } else {
    meta.view->base = base;
  }
  meta.view->creation_meta = creation_meta;
  meta.view->attr_version = t.version();
}

void check_inplace(const Tensor& t, bool recording) {
  if (is_inference(t) && !is_inference_mode_enabled()) {
    fail(ErrorCode::kInferenceTensor,
         "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a "
         "clone to get a normal tensor before doing inplace update.See "
         "https://github.com/pytorch/rfcs/pull/17 for more details.");
  }
  if (!recording || !ops_are_recorded()) return;
  const AutogradMeta* meta = autograd_meta(t);
  if (meta != nullptr && meta->view != nullptr) {
    {
      const auto lock = lock_objects(meta->mutex);
      if (meta->view->creation_meta != CreationMeta::kDefault) fail_view_in_place(*meta, false);
    }
    const Tensor& base = meta->view->base;
    if (requires_grad(base) && is_leaf(base)) {
      fail(ErrorCode::kLeafInPlace,
           "a view of a leaf Variable that requires grad is being used in an in-place operation. "
           "Wrap the change in noGrad(), or work on a clone().");
    }
  }
  if (requires_grad(t) && is_leaf(t)) {
    fail(ErrorCode::kLeafInPlace,
         "a leaf Variable that requires grad is being used in an in-place operation. Wrap the "
         "change in noGrad(), or work on a clone().");
  }
}

Tensor detach(const Tensor& t) { return t.alias(); }

void detach_in_place(const Tensor& t) {
  if (is_view(t)) {
    fail(ErrorCode::kViewInPlace,
         "Can't detach views in-place. Use detach() instead. If you are using "
         "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as True, "
         "gradients are views of DDP buckets, and hence detach_() cannot be called on these "
         "gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
         "torch/optim/optimizer.py as a solution.");
  }
  AutogradMeta* meta = autograd_meta(t);
  if (meta == nullptr) return;
  meta->requires_grad.store(false);
  const Edge previous = meta->exchange_history({});
  std::unique_ptr<ForwardGrad> dropped;
  const auto lock = lock_objects(meta->mutex);
  // It goes after the lock.
  dropped.swap(meta->forward_grad);
}

Tensor variable_data(const Tensor& t) { return t.alias_with_own_version(); }

}  // namespace eg
