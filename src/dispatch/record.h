#pragma once

// How an op that is not elementwise is recorded for backward.
//
// Such an op is a struct with a doc sentence, a function `call` that computes on tensors, and, when
// it has a gradient formula,
//
//   struct Attrs { ... };                               what backward needs besides tensors
//   static constexpr std::array<std::string_view, 2> saved_names{"self", "result"};
//                                                       the tensors it saves, if any
//   static GradList backward(const Backward<Op>& b);    gradients, one slot per input tensor
//
// `call` ends in `record<Op>(...)`, which makes the node when grad mode is on and an input requires
// a gradient. backward() is written with ordinary ops: under create_graph they are recorded again,
// so derivatives of any order work; otherwise nothing is recorded. Composites, which only call
// other ops, record nothing themselves. The tangents of forward mode are derived from the same
// backward().

#include <array>
#include <initializer_list>
#include <span>
#include <string>

#include "autograd/grad_mode.h"
#include "autograd/graph/node.h"
#include "autograd/graph/saved_variable.h"
#include "autograd/graph/variable.h"
#include "dispatch/forward.h"
#include "tensor/tensor.h"

namespace eg {

/// "index_select" -> "IndexSelectBackward0", as PyTorch names its nodes.
std::string node_name(std::string_view op);

/// True when ops are recorded and one of the tensors requires a gradient.
bool should_record(std::span<const Tensor> inputs);

/// True unless all tensors are inference tensors: an op on those alone is never recorded.
bool has_normal_tensor(std::span<const Tensor> inputs);

/// The edges of a node whose inputs are these tensors.
EdgeList collect_edges(std::span<const Tensor> inputs);

/// A tensor to be saved for backward.
struct Save {
  Tensor tensor;
  /// True for a result of the op. It is saved without its history, because node and tensor would
  /// otherwise own each other.
  bool is_output = false;
};

/// Makes `view` a view of `base` to autograd. Views that a backward pass makes without recording
/// are not tracked: no other code can change them in place, and a tracked view would share
/// ownership of its base, a gradient that could otherwise be reused or overwritten. While tangents
/// are carried they are tracked, because a change of the view also changes the tangent of the base.
void track_view(const Tensor& view, const Tensor& base, CreationMeta creation_meta);

/// The part of a node that does not depend on its op: the tensors it saves.
class FunctionNodeBase : public Node {
 public:
  using Node::Node;

  std::vector<NamedSavedVariable> saved_variables() final;

  /// The tensor saved in slot `i`.
  Tensor saved(std::size_t i);
  void save(std::size_t i, SavedVariable variable) { slots()[i] = std::move(variable); }

 private:
  virtual std::span<SavedVariable> slots() = 0;
  virtual std::span<const std::string_view> slot_names() const = 0;
};

template <class Op>
class FunctionNode;

/// What backward() of an op is given.
template <class Op>
class Backward {
 public:
  Backward(FunctionNode<Op>& node, GradList& grads) : node_(node), grads_(grads) {}

  const typename Op::Attrs& attrs() const { return node_.attrs(); }
  /// The incoming gradient of output `i`; undefined means zero.
  const Tensor& grad(std::size_t i = 0) const { return grads_[i]; }
  /// A saved tensor; throws when it was freed or changed in place.
  Tensor saved(std::size_t i) const { return node_.saved(i); }
  /// True when the gradient of input `i` is required.
  bool needs(std::size_t i) const { return node_.task_should_compute_output(i); }
  /// The number of inputs, for ops over lists.
  std::size_t input_count() const { return node_.num_outputs(); }

 private:
  FunctionNode<Op>& node_;
  GradList& grads_;
};

namespace detail {

template <class Op>
constexpr auto saved_names() {
  if constexpr (requires { Op::saved_names; })
    return Op::saved_names;
  else
    return std::array<std::string_view, 0>{};
}

}  // namespace detail

template <class Op>
class FunctionNode final : public FunctionNodeBase {
 public:
  FunctionNode(EdgeList edges, typename Op::Attrs attrs)
      : FunctionNodeBase(std::move(edges)), attrs_(std::move(attrs)) {}

  bool takes_sparse_gradients() const override {
    return requires { requires Op::makes_sparse; };
  }

  std::string name() const override {
    if constexpr (requires { Op::node_name; })
      return std::string(Op::node_name);
    else
      return eg::node_name(Op::doc.name);
  }

  GradList apply(GradList&& grads) override {
    bool any = false;
    for (const Tensor& grad : grads) any = any || grad.defined();
    if (!any) return GradList(num_outputs());
    return Op::backward(Backward<Op>(*this, grads));
  }

  void release_variables() override {
    decltype(saved_) released;
    const auto lock = lock_objects(mutex());
    // Destroyed after the lock is released, because hooks on a saved tensor may be user code.
    released = std::move(saved_);
  }

  const typename Op::Attrs& attrs() const { return attrs_; }

 private:
  static constexpr auto kSavedNames = detail::saved_names<Op>();

  std::span<SavedVariable> slots() override { return saved_; }
  std::span<const std::string_view> slot_names() const override { return kSavedNames; }

  typename Op::Attrs attrs_;
  std::array<SavedVariable, kSavedNames.size()> saved_;
};

/// Makes the node of an op with given edges: once for the graph, and again to map tangents.
class NodeMaker {
 public:
  template <class Op>
  static NodeMaker of(const typename Op::Attrs& attrs) {
    return {&attrs, [](const void* own, EdgeList edges) -> IntrusivePtr<FunctionNodeBase> {
              return make_intrusive<FunctionNode<Op>>(std::move(edges),
                                                      *static_cast<const typename Op::Attrs*>(own));
            }};
  }

  IntrusivePtr<FunctionNodeBase> operator()(EdgeList edges) const {
    return make_(attrs_, std::move(edges));
  }

 private:
  using Make = IntrusivePtr<FunctionNodeBase> (*)(const void* attrs, EdgeList edges);
  NodeMaker(const void* attrs, Make make) : attrs_(attrs), make_(make) {}

  const void* attrs_;
  Make make_;
};

/// Implements record(): makes the node of the graph, and another one to map tangents.
void record_function(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                     NodeMaker make_node, std::span<const Save> saves);

/// Records an op with several outputs. `inputs` has one entry per gradient slot of backward().
template <class Op>
void record(std::span<const Tensor> outputs, std::span<const Tensor> inputs,
            const typename Op::Attrs& attrs, std::initializer_list<Save> saves) {
  record_function(outputs, inputs, NodeMaker::of<Op>(attrs), {saves.begin(), saves.size()});
}

/// Records an op with one output and returns it.
template <class Op>
Tensor record(const Tensor& output, std::initializer_list<Tensor> inputs,
              const typename Op::Attrs& attrs, std::initializer_list<Save> saves = {}) {
  record<Op>(std::span<const Tensor>(&output, 1),
             std::span<const Tensor>(inputs.begin(), inputs.size()), attrs, saves);
  return output;
}

/// Implements record_linear().
void record_linear_function(const Tensor& output, std::span<const Tensor> inputs,
                            NodeMaker make_node, std::span<const Save> saves,
                            Tensor (*apply)(const void* op, const TensorList& inputs),
                            const void* op);

/// Records an op that is linear in all inputs together, as record() does, except that the tangent
/// of the result is the op applied to tangents: if an index occurs twice, the element written last
/// counts, for tangents as for values, while PyTorch's gradient goes to all of them.
template <class Op, class Apply>
Tensor record_linear(const Tensor& output, std::initializer_list<Tensor> inputs,
                     const typename Op::Attrs& attrs, std::initializer_list<Save> saves,
                     const Apply& apply) {
  record_linear_function(
      output, {inputs.begin(), inputs.size()}, NodeMaker::of<Op>(attrs),
      {saves.begin(), saves.size()},
      [](const void* op, const TensorList& of) { return (*static_cast<const Apply*>(op))(of); },
      &apply);
  return output;
}

/// The tangents of an open level, zero where a tensor has none; empty if none has one.
TensorList whole_tangents(std::span<const Tensor> tensors);

/// Records `views`, which are parts of `base`; their tangents are the same parts of its tangent.
void record_views_of(const Tensor& base, std::span<const Tensor> views, NodeMaker make_node,
                     CreationMeta creation_meta);

/// Makes a view of `base`, tracked by autograd and recorded.
template <class Op>
Tensor record_view(const Tensor& base, const Shape& shape, const Strides& strides,
                   std::int64_t offset, const typename Op::Attrs& attrs) {
  const Tensor view = base.alias(shape, strides, offset);
  record_views_of(base, std::span<const Tensor>(&view, 1), NodeMaker::of<Op>(attrs),
                  CreationMeta::kDefault);
  return view;
}

/// Records several views of one base, made with alias(), as the outputs of one node.
template <class Op>
TensorList record_views(const Tensor& base, TensorList views, const typename Op::Attrs& attrs) {
  record_views_of(base, views, NodeMaker::of<Op>(attrs), CreationMeta::kMultiOutputNode);
  return views;
}

/// How an in-place op treats a target in which several elements share one memory location.
enum class SelfOverlap : std::uint8_t {
  kRefused,
  kHarmless,  ///< all elements are set to the same value
};

/// Records an in-place op that saves nothing, in two steps. The constructor checks the target and
/// computes what finish() needs from the values before the change.
class InPlaceRecord {
 public:
  InPlaceRecord(const Tensor& target, std::span<const Tensor> inputs, NodeMaker make_node,
                SelfOverlap self_overlap);
  /// Call after the change: raises the version and rewrites the history.
  void finish();

 private:
  const Tensor& target_;
  IntrusivePtr<Node> node_;
  Tensor tangent_;
};

/// Changes `target` by calling `write`, and records that as an op that saves nothing.
template <class Op, class Write>
Tensor change_in_place(const Tensor& target, std::span<const Tensor> inputs,
                       const typename Op::Attrs& attrs, Write&& write,
                       SelfOverlap self_overlap = SelfOverlap::kRefused) {
  InPlaceRecord change(target, inputs, NodeMaker::of<Op>(attrs), self_overlap);
  write();
  change.finish();
  return target;
}

}  // namespace eg
