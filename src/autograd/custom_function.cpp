#include "autograd/custom_function.h"

#include <algorithm>

#include "autograd/engine/graph_task.h"
#include "autograd/graph/basic_nodes.h"
#include "autograd/graph/variable.h"
#include "autograd/tensor_math.h"
#include "base/error.h"
#include "base/warning.h"

namespace eg {
namespace {

// The output for an argument that is returned unchanged: PyTorch's view_as(self) without recording.
Tensor view_as_self(const Tensor& t) {
  const Tensor view = t.alias();
  set_view(view, t, CreationMeta::kInCustomFunction);
  return view;
}

void restrict_view(const Tensor& t, CreationMeta creation_meta) {
  if (!t.defined() || !is_view(t)) return;
  const AutogradMeta& meta = *autograd_meta(t);
  const auto lock = lock_objects(meta.mutex);
  meta.view->creation_meta = creation_meta;
}

}  // namespace

CustomFunctionNode::CustomFunctionNode(std::string function_name)
    : function_name_(std::move(function_name)) {}

void CustomFunctionNode::begin_forward(const TensorList& arguments) {
  bool any_requires_grad = false;
  std::uint32_t edge = 0;
  for (const Tensor& tensor : arguments) {
    has_tangents_ = has_tangents_ || tangent(tensor).defined();
    const bool is_tensor = tensor.defined();
    arguments_.push_back({tensor, is_tensor, requires_grad(tensor), edge});
    if (is_tensor) ++edge;
    any_requires_grad = any_requires_grad || arguments_.back().requires_grad;
  }
  check(!has_tangents_ || has_jvp(), ErrorCode::kNotDifferentiable, function_name_,
        "an argument has a tangent of forward mode, for which a custom Function needs a static "
        "method "
        "jvp(ctx, ...tangents).");
  is_recording_ = any_requires_grad && ops_are_recorded();
  if (!is_recording_) return;
  EdgeList edges;
  for (const Tensor& tensor : arguments) {
    if (tensor.defined()) edges.push_back(gradient_edge(tensor));
  }
  set_next_edges(std::move(edges));
}

// Lets go of what only forward needs when it ends, also with an error: an argument that was changed
// in place has this node as its history.
class CustomFunctionNode::ForwardEnd {
 public:
  explicit ForwardEnd(CustomFunctionNode& node) : node_(node) {}
  ~ForwardEnd() {
    node_.to_save_.clear();
    node_.dirty_.clear();
    node_.non_differentiable_.clear();
    node_.saved_for_forward_.clear();
    for (Argument& argument : node_.arguments_) argument.tensor.reset();
  }
  ForwardEnd(const ForwardEnd&) = delete;
  ForwardEnd& operator=(const ForwardEnd&) = delete;

 private:
  CustomFunctionNode& node_;
};

TensorList CustomFunctionNode::end_forward(const TensorList& raw_outputs) {
  const ForwardEnd end(*this);
  check_dirty_returned(raw_outputs);
  TensorList outputs;
  for (const Tensor& raw : raw_outputs) outputs.push_back(wrap_output(raw, raw_outputs.size()));

  const auto differentiable = std::count_if(outputs.begin(), outputs.end(), [&](const Tensor& t) {
    return t.defined() && is_recording_ && grad_fn(t).get() == this;
  });
  if (differentiable > 1) {
    for (const Tensor& output : outputs) restrict_view(output, CreationMeta::kMultiOutputNode);
  }
  if (has_tangents_) set_tangents(raw_outputs, outputs);
  if (is_recording_) {
    // Only now do outputs have their history, which distinguishes them from other tensors.
    for (const Tensor& t : to_save_) {
      saved_.emplace_back(t, role_of(t));
    }
  }
  forward_done_ = true;
  return outputs;
}

bool CustomFunctionNode::contains(const TensorList& list, const Tensor& t) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& item) { return item.is_same(t); });
}

SavedAs CustomFunctionNode::role_of(const Tensor& t) const {
  if (!t.defined()) return SavedAs::kInput;
  if (is_view(t) && contains(dirty_, t)) return SavedAs::kOutputInPlaceOnView;
  return grad_fn(t).get() == this ? SavedAs::kOutput : SavedAs::kInput;
}

Tensor CustomFunctionNode::wrap_output(const Tensor& raw, std::size_t output_count) {
  if (!raw.defined()) {
    outputs_.emplace_back();
    if (is_recording_) add_undefined_input();
    return raw;
  }
  outputs_.emplace_back(InputMetadata(raw));
  const bool is_argument = this->is_argument(raw);
  const bool is_dirty = contains(dirty_, raw);
  Tensor output;
  if (is_recording_ && is_differentiable(raw.dtype()) && !contains(non_differentiable_, raw)) {
    output = with_history(raw, is_argument, is_dirty, output_count);
  } else {
    if (is_recording_) add_undefined_input();
    output = without_history(raw, is_argument, is_dirty);
  }
  if (!(is_argument && is_dirty)) restrict_view(output, CreationMeta::kInCustomFunction);
  return output;
}

Tensor CustomFunctionNode::without_history(const Tensor& raw, bool is_argument,
                                           bool is_dirty) const {
  if (is_dirty) raw.bump_version();
  if (!requires_grad(raw)) return is_argument && !is_dirty ? view_as_self(raw) : raw;
  // A view of an argument still requires gradients, like one made under no_grad.
  return !is_argument && is_view(raw) ? raw : detach(raw);
}

Tensor CustomFunctionNode::with_history(const Tensor& raw, bool is_argument, bool is_dirty,
                                        std::size_t output_count) {
  const IntrusivePtr<Node> self(this);
  if (!is_dirty) {
    const Tensor output = is_argument ? view_as_self(raw) : raw;
    set_history(output, self);
    return output;
  }
  if (!is_view(raw) && requires_grad(raw) && is_leaf(raw)) {
    fail(ErrorCode::kLeafInPlace,
         "a leaf that requires a gradient was passed to ctx.markDirty(), but cannot be changed in "
         "place.");
  }
  if (!is_argument) {
    warn(
        "ctx.markDirty() was given a tensor that is not an argument of forward; only arguments "
        "need "
        "it.");
  }
  if (is_view(raw) && output_count > 1) {
    fail(ErrorCode::kViewInPlace,
         "a Function that changes a view in place can only return that view, got ", output_count,
         " outputs. Pass a clone(), or split the Function in two.");
  }
  check_inplace(raw, true);
  // After the check, which updates a stale view: to the new history the view must appear stale.
  raw.bump_version();
  rebase_history(raw, self);
  return raw;
}

void CustomFunctionNode::check_dirty_returned(const TensorList& raw_outputs) const {
  for (const Tensor& dirty : dirty_) {
    const bool returned = std::any_of(
        raw_outputs.begin(), raw_outputs.end(),
        [&](const Tensor& output) { return output.defined() && output.is_same(dirty); });
    if (!returned) {
      fail(ErrorCode::kInvalidArgument,
           "forward must return every tensor passed to ctx.markDirty().");
    }
  }
}

bool CustomFunctionNode::is_argument(const Tensor& t) const {
  return std::any_of(arguments_.begin(), arguments_.end(), [&](const Argument& argument) {
    return argument.is_tensor && argument.tensor.is_same(t);
  });
}

bool CustomFunctionNode::needs_input_grad(std::size_t i) const {
  const Argument& argument = arguments_.at(i);
  if (!argument.requires_grad) return false;
  // Forward does not belong to a backward call, even if it runs inside one.
  return !forward_done_ || !is_recording_ || task_should_compute_output(argument.edge);
}

TensorList CustomFunctionNode::saved_tensors() const {
  if (is_in_jvp_) return saved_for_forward_;
  std::vector<SavedVariable> saved;
  {
    const std::scoped_lock lock(mutex());
    if (released_) fail_graph_freed();
    saved = saved_;
  }
  TensorList tensors;
  tensors.reserve(saved.size());
  for (const SavedVariable& variable : saved) tensors.push_back(variable.unpack(*this));
  return tensors;
}

std::vector<NamedSavedVariable> CustomFunctionNode::saved_variables() {
  const std::scoped_lock lock(mutex());
  if (released_) fail_graph_freed();
  std::vector<NamedSavedVariable> result;
  result.reserve(saved_.size());
  for (SavedVariable& variable : saved_) {
    result.push_back({std::to_string(result.size()), &variable});
  }
  return result;
}

void CustomFunctionNode::release_variables() {
  // Destroyed outside the lock: destroying what was saved may run user code.
  std::vector<SavedVariable> released;
  const std::scoped_lock lock(mutex());
  released.swap(saved_);
  released_ = true;
}

GradList CustomFunctionNode::apply(GradList&& grads) {
  if (materialize_grads_) materialize(grads);
  const bool refuse_second = once_differentiable_ && is_grad_enabled();
  GradList results;
  {
    const GradModeGuard mode(is_grad_enabled() && !once_differentiable_);
    results = backward(std::move(grads));
  }
  results = select_tensor_gradients(std::move(results));
  if (refuse_second) forbid_second_derivative(results);
  return results;
}

void CustomFunctionNode::materialize(GradList& grads) const {
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined() && outputs_[i].has_value()) grads[i] = math::zeros(*outputs_[i]);
  }
}

GradList CustomFunctionNode::select_tensor_gradients(GradList results) const {
  // Extra undefined gradients are ignored.
  while (results.size() > arguments_.size() && !results.back().defined()) results.pop_back();
  if (results.size() != arguments_.size()) {
    fail(ErrorCode::kInvalidGradient, name(), " returned ", results.size(), " gradients, expected ",
         arguments_.size(), ", one per argument of forward.");
  }
  GradList selected;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (arguments_[i].is_tensor) {
      selected.push_back(std::move(results[i]));
    } else if (results[i].defined()) {
      fail(ErrorCode::kInvalidGradient, name(), " returned a gradient for argument ", i + 1,
           " of forward, which is not a tensor. Return null for it.");
    }
  }
  return selected;
}

void CustomFunctionNode::forbid_second_derivative(GradList& results) const {
  const auto error = make_intrusive<ErrorNode>(
      "the backward of a Function marked onceDifferentiable cannot be differentiated again.",
      next_edges());
  for (Tensor& result : results) {
    if (!result.defined()) continue;
    result = detach(result);
    set_history(result, error);
  }
}

}  // namespace eg
