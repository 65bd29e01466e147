#pragma once

// How an op that is not elementwise is recorded for backward.
//
// Such an op is a struct with a doc sentence, a function `call` that computes on tensors, and, when
// it is differentiable by a formula of its own,
//
//   struct Attrs { ... };                               what backward needs besides tensors
//   static constexpr std::size_t saved_count = 2;       how many tensors it keeps
//   static GradList backward(const Backward<Op>& b);    gradients, one slot per input tensor
//
// `call` ends in `record<Op>(...)`, which makes the node when grad mode is on and an input requires
// a gradient. backward() works with ordinary ops: under create_graph they are recorded again, so
// every order of derivative works; under plain backward nothing is recorded. Composites, which only
// call other ops, record nothing themselves.

#include <array>
#include <initializer_list>
#include <span>
#include <string>

#include "autograd/grad_mode.h"
#include "autograd/node.h"
#include "autograd/saved_variable.h"
#include "autograd/variable.h"
#include "tensor/tensor.h"

namespace eg {

/// "index_select" -> "IndexSelectBackward0", as PyTorch names its nodes.
std::string node_name(std::string_view op);

/// True when grad mode is on and one of the tensors requires a gradient.
bool should_record(std::span<const Tensor> inputs);

/// The edges of a node whose inputs are these tensors.
EdgeList collect_edges(std::span<const Tensor> inputs);

/// A tensor to be kept for backward.
struct Save {
  Tensor tensor;
  /// It is a result of the op: kept without its history, or node and tensor would own each other.
  bool is_output = false;
};

/// Makes `view` a view of `base` to autograd. Views a backward pass makes for itself, without
/// recording, are not tracked: nobody can change them in place, and a tracked view would keep its
/// base from being the sole owner of a gradient that can be taken over or written over.
void track_view(const Tensor& view, const Tensor& base, CreationMeta creation_meta);

template <class Op>
class FunctionNode;

/// What backward() of an op is given.
template <class Op>
class Backward {
 public:
  Backward(const FunctionNode<Op>& node, GradList& grads) : node_(node), grads_(grads) {}

  const typename Op::Attrs& attrs() const { return node_.attrs(); }
  /// The incoming gradient of output `i`; undefined means zero.
  const Tensor& grad(std::size_t i = 0) const { return grads_[i]; }
  /// A saved tensor; throws when it was freed or changed in place.
  Tensor saved(std::size_t i) const { return node_.saved(i); }
  /// True when the gradient of input `i` is wanted.
  bool needs(std::size_t i) const { return node_.task_should_compute_output(i); }
  /// The number of inputs, for ops over lists.
  std::size_t input_count() const { return node_.num_outputs(); }

 private:
  const FunctionNode<Op>& node_;
  GradList& grads_;
};

template <class Op>
class FunctionNode final : public Node {
 public:
  FunctionNode(EdgeList edges, typename Op::Attrs attrs)
      : Node(std::move(edges)), attrs_(std::move(attrs)) {}

  std::string name() const override { return node_name(Op::doc.name); }

  GradList apply(GradList&& grads) override {
    bool any = false;
    for (const Tensor& grad : grads) any = any || grad.defined();
    if (!any) return GradList(num_outputs());
    return Op::backward(Backward<Op>(*this, grads));
  }

  void release_variables() override {
    const std::scoped_lock lock(mutex());
    for (SavedVariable& saved : saved_) saved.release();
  }

  const typename Op::Attrs& attrs() const { return attrs_; }
  Tensor saved(std::size_t i) const {
    const std::scoped_lock lock(mutex());
    return saved_[i].unpack(*this);
  }
  void save(std::size_t i, SavedVariable variable) { saved_[i] = std::move(variable); }

 private:
  typename Op::Attrs attrs_;
  std::array<SavedVariable, Op::saved_count> saved_;
};

/// Records an op with several outputs. `inputs` has one entry per gradient slot of backward().
template <class Op>
void record(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
            typename Op::Attrs attrs, std::initializer_list<Save> saves) {
  if (!should_record(inputs)) return;
  auto node = make_intrusive<FunctionNode<Op>>(collect_edges(inputs), std::move(attrs));
  for (const Tensor& output : outputs) {
    if (is_differentiable(output.dtype()))
      set_history(output, node);
    else
      node->add_input_metadata(output);
  }
  std::size_t i = 0;
  for (const Save& save : saves) node->save(i++, SavedVariable(save.tensor, save.is_output));
}

/// Records an op with one output and returns it.
template <class Op>
Tensor record(const Tensor& output, std::initializer_list<Tensor> inputs, typename Op::Attrs attrs,
              std::initializer_list<Save> saves = {}) {
  record<Op>(std::span<const Tensor>(&output, 1),
             std::span<const Tensor>(inputs.begin(), inputs.size()), std::move(attrs), saves);
  return output;
}

/// Makes a view of `base`, tracked by autograd and recorded.
template <class Op>
Tensor record_view(const Tensor& base, const Shape& shape, const Strides& strides,
                   std::int64_t offset, typename Op::Attrs attrs,
                   CreationMeta creation_meta = CreationMeta::kDefault) {
  Tensor view = base.alias(shape, strides, offset);
  track_view(view, base, creation_meta);
  return record<Op>(view, {base}, std::move(attrs));
}

/// Records several views of one base, made with alias(), as the outputs of one node.
template <class Op>
TensorList record_views(const Tensor& base, TensorList views, typename Op::Attrs attrs) {
  for (const Tensor& view : views) track_view(view, base, CreationMeta::kMultiOutputNode);
  if (!views.empty()) record<Op>(views, std::span<const Tensor>(&base, 1), std::move(attrs), {});
  return views;
}

/// The shared half of every in-place op: checks, runs `write`, raises the version, records.
/// `make_node` is called only when the change is recorded.
template <class Write, class MakeNode>
Tensor change_in_place(const Tensor& target, std::span<const Tensor> inputs, Write&& write,
                       MakeNode&& make_node) {
  const bool recording = should_record(inputs);
  check_inplace(target, recording);
  IntrusivePtr<Node> node = recording ? make_node() : nullptr;
  write();
  target.bump_version();
  if (node != nullptr) rebase_history(target, node);
  return target;
}

}  // namespace eg
