// compile: engine

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
      return " It is one of several views that one function returned. Use an out-of-place "
             "operation instead.";
    case CreationMeta::kInCustomFunction:
      return " A custom Function made it, or returned an argument unchanged: a new history would "
             "bypass the Function's backward. Use a clone() of the Function's output.";
    case CreationMeta::kNoGradMode:
      return " Make the view and the change both inside noGrad(), where neither is recorded, or "
             "both outside.";
    case CreationMeta::kInferenceMode:
      return " Make the view and the change both inside inferenceMode(), where neither is "
             "recorded, or both outside.";
    case CreationMeta::kDefault:
      break;
  }
  return "";
}

// Needs the mutex of `meta`. `indirect`: the change was made through the base or another view.
[[noreturn]] void fail_view_in_place(const AutogradMeta& meta, bool indirect) {
  const CreationMeta reason = meta.view->creation_meta;
  const Edge& history = meta.history_locked();
  std::string maker;
  if (history.is_valid()) {
    maker = join_text("output ", history.input_nr, " of ", history.function->name(), ", ");
  }
  std::string_view view = "a view";
  if (reason == CreationMeta::kInferenceMode) {
    view =
        maker.empty() ? "a view made in inferenceMode()" : "a view of one made in inferenceMode()";
  } else if (reason == CreationMeta::kNoGradMode || maker.empty()) {
    // A view without a grad_fn was made in noGrad(), whatever else restricts it.
    view = maker.empty() ? "a view made in noGrad()" : "a view of one made in noGrad()";
  }
  fail(ErrorCode::kViewInPlace, maker, view, maker.empty() ? "" : ",",
       indirect ? " cannot be used after its base or another view of it was changed in place."
                : " cannot be changed in place.",
       creation_reason(reason));
}

void note_set_grad(const Tensor& t) {
  if (Recording* const active = recording()) [[unlikely]]
    active->tensors->note_set(t);
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
         "an inference tensor cannot require gradients outside inferenceMode(). Use its clone().");
  }
  if (value && !is_differentiable(t.dtype())) {
    fail(ErrorCode::kNotDifferentiable,
         "[requiresGrad_] only floating-point and complex tensors can require gradients, got ",
         t.dtype(), '.');
  }
  if (!is_leaf(t)) {
    if (value) return;
    fail(ErrorCode::kInvalidArgument,
         "[requiresGrad_] cannot be set to false on the result of a recorded operation. Use "
         "x.detach() instead.");
  }
  if (!value && autograd_meta(t) == nullptr) return;
  ensure_autograd_meta(t).requires_grad.store(value);
}

namespace {

// The history of a view, regenerated if its base was changed since it was made.
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
  // The previous gradient is destroyed after the lock is released.
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
        "a tensor cannot be its own gradient.");
  check(value.dtype() == t.dtype(), ErrorCode::kDtypeMismatch, "grad",
        "expected a gradient of dtype ", t.dtype(), ", got ", value.dtype(), '.');
  check(value.device() == t.device(), ErrorCode::kDeviceMismatch, "grad", "expected a gradient on ",
        t.device(), ", got one on ", value.device(), '.');
  check(value.shape() == t.shape(), ErrorCode::kShapeMismatch, "grad",
        "expected a gradient of shape ", t.shape(), ", got ", value.shape(), '.');
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
  invariant(!meta->has_history(), "grad_accumulator() needs a leaf.");
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
  if (meta.view == nullptr) return;
  // The history of a view is that of its present values, whatever changed them before.
  const auto lock = lock_objects(meta.mutex);
  meta.view->attr_version = t.version();
}

void rebase_history(const Tensor& t, const IntrusivePtr<Node>& node) {
  AutogradMeta& meta = ensure_autograd_meta(t);
  if (meta.view == nullptr) {
    set_history(t, node);
    return;
  }
  invariant(node->num_inputs() == 0 || node->num_outputs() > 0,
            "an in-place operation on a view must have a single output.");
  node->add_input_metadata(t);
  const Tensor base = meta.view->base;
  set_history(base, make_intrusive<CopySlices>(base, t, node));
  // Regenerates the view's own grad_fn from the base's new history.
  grad_fn(t);
}

void take_history(const Tensor& t, const Tensor& from) {
  const Edge next = history(from);
  const Edge previous = ensure_autograd_meta(t).exchange_history(next);
  if (previous.is_valid()) move_retains_grad_hook(t, previous, next);
}

void set_view(const Tensor& t, const Tensor& base, CreationMeta creation_meta) {
  // Operations on an inference tensor are never recorded, so its views need no history.
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
         "an inference tensor cannot be changed in place outside inferenceMode(). Change its "
         "clone() instead.");
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
           "a view of a leaf that requires a gradient cannot be changed in place. Wrap the change "
           "in "
           "noGrad(), or change a clone().");
    }
  }
  if (requires_grad(t) && is_leaf(t)) {
    fail(ErrorCode::kLeafInPlace,
         "a leaf that requires a gradient cannot be changed in place. Wrap the change in noGrad(), "
         "or change a clone().");
  }
}

Tensor detach(const Tensor& t) { return t.alias(); }

void detach_in_place(const Tensor& t) {
  if (is_view(t)) {
    fail(ErrorCode::kViewInPlace, "a view cannot be detached in place. Use x.detach() instead.");
  }
  AutogradMeta* meta = autograd_meta(t);
  if (meta == nullptr) return;
  meta->requires_grad.store(false);
  const Edge previous = meta->exchange_history({});
  std::unique_ptr<ForwardGrad> dropped;
  const auto lock = lock_objects(meta->mutex);
  // Destroyed after the lock is released.
  dropped.swap(meta->forward_grad);
}

Tensor variable_data(const Tensor& t) { return t.alias_with_own_version(); }

}  // namespace eg
