// compile: engine

#include "dispatch/record.h"

#include <algorithm>
#include <cctype>

#include "autograd/engine/graph_task.h"
#include "autograd/tensor_math.h"
#include "dispatch/overlap.h"

namespace eg {
namespace {

// A node that is only used to map tangents. It saves outputs with their history, which forms no
// lasting cycle because the node is destroyed right after use.
IntrusivePtr<FunctionNodeBase> make_tangent_node(NodeMaker make_node,
                                                 std::span<const Tensor> outputs,
                                                 std::span<const Tensor> inputs,
                                                 std::span<const Save> saves) {
  IntrusivePtr<FunctionNodeBase> node = make_node(tangent_edges(inputs));
  for (const Tensor& output : outputs) node->add_input_metadata(output);
  AutogradState state = autograd_state();
  state.saved_tensor_hooks = nullptr;
  const AutogradStateGuard guard(state);
  for (std::size_t i = 0; i < saves.size(); ++i) {
    node->save(i, SavedVariable(saves[i].tensor, SavedAs::kInput));
  }
  return node;
}

// The part of `base_tangent` that corresponds to `view` in `base`. Undefined when the tangent has
// other strides or too little memory: a view made by as_strided() may reach beyond its input.
Tensor same_part(const Tensor& base_tangent, const Tensor& view, const Tensor& base) {
  if (base_tangent.strides() != base.strides()) return {};
  const auto bytes = [](const Tensor& t) {
    return t.offset() * static_cast<std::int64_t>(item_size(t.dtype()));
  };
  const auto item = static_cast<std::int64_t>(item_size(view.dtype()));
  const std::int64_t first = bytes(base_tangent) + bytes(view) - bytes(base);
  const std::int64_t extent = storage_extent(view.shape(), view.strides()) * item;
  const bool fits = first >= 0 && first % item == 0 &&
                    static_cast<std::size_t>(first + extent) <= base_tangent.storage()->bytes();
  if (!fits) return {};
  return base_tangent.alias_as(view.dtype(), view.shape(), view.strides(), first / item);
}

void carry_tangents(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                    NodeMaker make_node, std::span<const Save> saves) {
  const IntrusivePtr<FunctionNodeBase> node = make_tangent_node(make_node, outputs, inputs, saves);
  const TensorList tangents = map_tangents(*node, outputs, inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    set_tangent(outputs[i], own_tangent(tangents[i], inputs));
  }
}

}  // namespace

std::string node_name(std::string_view op) {
  std::string name;
  bool upper = true;
  for (const char c : op) {
    if (c == '_') {
      upper = true;
      continue;
    }
    name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return name + "Backward0";
}

bool should_record(std::span<const Tensor> inputs) {
  if (!ops_are_recorded()) return false;
  bool by_inference_tensor = false;
  for (const Tensor& input : inputs) {
    if (!requires_grad(input)) continue;
    if (!is_inference(input)) return true;
    by_inference_tensor = true;
  }
  return by_inference_tensor && has_normal_tensor(inputs);
}

bool has_normal_tensor(std::span<const Tensor> inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const Tensor& t) {
    return t.defined() && !is_inference(t) && !t.is_wrapped_number();
  });
}

EdgeList collect_edges(std::span<const Tensor> inputs) {
  EdgeList edges;
  for (const Tensor& input : inputs) edges.push_back(gradient_edge(input));
  return edges;
}

void track_view(const Tensor& view, const Tensor& base, CreationMeta creation_meta) {
  if (is_inference_mode_enabled())
    set_view(view, base, CreationMeta::kInferenceMode);
  else if (is_grad_enabled())
    set_view(view, base, creation_meta);
  else if (GraphTask::current() == nullptr || ops_carry_tangents())
    set_view(view, base, CreationMeta::kNoGradMode);
}

std::vector<NamedSavedVariable> FunctionNodeBase::saved_variables() {
  std::vector<NamedSavedVariable> result;
  const std::span<const std::string_view> names = slot_names();
  result.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    result.push_back({std::string(names[i]), &slots()[i]});
  return result;
}

Tensor FunctionNodeBase::saved(std::size_t i) {
  auto lock = lock_objects(mutex());
  return slots()[i].value(*this, lock);
}

void record_function(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                     NodeMaker make_node, std::span<const Save> saves) {
  IntrusivePtr<FunctionNodeBase> node;
  if (should_record(inputs)) {
    node = make_node(collect_edges(inputs));
    for (const Tensor& output : outputs) {
      if (is_differentiable(output.dtype()))
        set_history(output, node);
      else
        node->add_input_metadata(output);
    }
  }
  // Set before the outputs are saved, because their tangents are saved with them.
  if (any_has_tangent(inputs)) carry_tangents(outputs, inputs, make_node, saves);
  if (node == nullptr) return;
  for (std::size_t i = 0; i < saves.size(); ++i) {
    node->save(
        i, SavedVariable(saves[i].tensor, saves[i].is_output ? SavedAs::kOutput : SavedAs::kInput));
  }
}

TensorList whole_tangents(std::span<const Tensor> tensors) {
  if (!any_has_tangent(tensors)) return {};
  TensorList tangents = tangents_of(tensors);
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i].defined()) tangents[i] = math::zeros_like(tensors[i]);
  }
  return tangents;
}

void record_linear_function(const Tensor& output, std::span<const Tensor> inputs,
                            NodeMaker make_node, std::span<const Save> saves,
                            Tensor (*apply)(const void* op, const TensorList& inputs),
                            const void* op) {
  const TensorList tangents = whole_tangents(inputs);
  Tensor tangent_of_output;
  {
    const NoDualLevelGuard guard;
    record_function({&output, 1}, inputs, make_node, saves);
    if (!tangents.empty()) tangent_of_output = apply(op, tangents);
  }
  set_tangent(output, tangent_of_output);
}

void record_views_of(const Tensor& base, std::span<const Tensor> views, NodeMaker make_node,
                     CreationMeta creation_meta) {
  for (const Tensor& view : views) track_view(view, base, creation_meta);
  const std::span<const Tensor> inputs(&base, 1);
  const auto record = [&](const Tensor& of, std::span<const Tensor> results) {
    if (results.empty() || !should_record({&of, 1})) return;
    const IntrusivePtr<Node> node = make_node(collect_edges({&of, 1}));
    for (const Tensor& result : results) set_history(result, node);
  };
  record(base, views);
  const Tensor base_tangent = tangent(base);
  if (!base_tangent.defined()) return;
  TensorList parts;
  parts.reserve(views.size());
  for (const Tensor& view : views) {
    parts.push_back(same_part(base_tangent, view, base));
    if (parts.back().defined()) continue;
    carry_tangents(views, inputs, make_node, {});
    return;
  }
  {
    const NoDualLevelGuard guard;
    for (const Tensor& part : parts) track_view(part, base_tangent, creation_meta);
    record(base_tangent, parts);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) set_view_tangent(views[i], parts[i]);
}

InPlaceRecord::InPlaceRecord(const Tensor& target, std::span<const Tensor> inputs,
                             NodeMaker make_node, SelfOverlap self_overlap)
    : target_(target) {
  // A target of integers has no gradient.
  const bool recording = is_differentiable(target.dtype()) && should_record(inputs);
  check_inplace(target, recording);
  if (self_overlap == SelfOverlap::kRefused) check_no_internal_overlap(target);
  for (const Tensor& input : inputs) check_no_partial_overlap(target, input);
  if (recording) node_ = make_node(collect_edges(inputs));
  if (is_differentiable(target.dtype()) && any_has_tangent(inputs)) {
    const std::span<const Tensor> outputs(&target, 1);
    const auto node = make_tangent_node(make_node, outputs, inputs, {});
    tangent_ = own_tangent(map_tangents(*node, outputs, inputs)[0], inputs);
    if (!tangent_.defined() && tangent(target).defined()) tangent_ = math::zeros_like(target);
  }
}

void InPlaceRecord::finish() {
  target_.bump_version();
  if (node_ != nullptr) rebase_history(target_, node_);
  set_tangent(target_, tangent_);
}

}  // namespace eg
