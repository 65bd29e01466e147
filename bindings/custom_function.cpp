// autograd.Function: nodes whose backward is a JavaScript function.
//
// JavaScript's context object refers to its node by the number of that function and does not keep
// the node alive: the node holds the function, which holds the context.

#include "autograd/custom_function.h"

#include "border.h"
#include "callbacks.h"

namespace eg::bindings {
namespace {

// All live nodes by their functions.
JsTable<WeakPtr<Node>>& function_nodes() {
  static auto* const nodes = new JsTable<WeakPtr<Node>>;
  return *nodes;
}

class JsFunctionNode final : public CustomFunctionNode {
 public:
  JsFunctionNode(std::string name, double backward, bool has_jvp)
      : CustomFunctionNode(std::move(name)),
        backward_(std::make_unique<JsFunction>(backward)),
        has_jvp_(has_jvp) {}
  ~JsFunctionNode() override { drop_function(); }

  /// Sets the function that jvp() calls; it is dropped after that.
  void set_jvp(std::unique_ptr<JsFunction> jvp) { jvp_ = std::move(jvp); }

  void clear() override {
    CustomFunctionNode::clear();
    drop_function();
  }

 protected:
  GradList backward(GradList grads) override { return call<GradList>(*backward_, grads); }

  bool has_jvp() const override { return has_jvp_; }

  TensorList jvp(TensorList tangents) override {
    const std::unique_ptr<JsFunction> jvp = std::move(jvp_);
    return call<TensorList>(*jvp, tangents);
  }

 private:
  template <class Tensors>
  static Tensors call(const JsFunction& function, const Tensors& tensors) {
    Arguments arguments;
    for (const Tensor& tensor : tensors) arguments.add(tensor);
    return function.call(std::move(arguments), [](const Words& answer) {
      Tensors results;
      for (const double handle : answer) results.push_back(handles().get_optional(handle));
      return results;
    });
  }

  void drop_function() {
    if (backward_ != nullptr) function_nodes().erase(backward_->ref());
    backward_.reset();
  }

  std::unique_ptr<JsFunction> backward_;
  std::unique_ptr<JsFunction> jvp_;
  bool has_jvp_;
};

// Returns the node of a function of this thread.
IntrusivePtr<JsFunctionNode> node_of(double id) {
  const IntrusivePtr<Node> node = function_nodes().get(JsRef::here(id)).lock();
  if (node == nullptr) fail_graph_freed();
  return IntrusivePtr<JsFunctionNode>(static_cast<JsFunctionNode*>(node.get()));
}

TensorList read_tensors(int count) {
  TensorList tensors;
  for (int i = 0; i < count; ++i) {
    tensors.push_back(handles().get_optional(frame()[static_cast<std::size_t>(i)]));
  }
  return tensors;
}

double set_tensors(double id, int count, void (CustomFunctionNode::*set)(TensorList)) {
  return guard([&] {
    ((*node_of(id)).*set)(read_tensors(count));
    return 0;
  });
}

}  // namespace

// Starts a call of a custom Function. Frame: arguments (0: not a tensor), then the name in UTF-8.
// `id` identifies the call in the functions below. `flags`: 1 for once differentiable, 2 for a
// Function with a jvp. Returns the node, and writes whether an argument has a tangent: then
// setFunctionJvp() must follow, and forward run between hideDualLevel() and
// showDualLevel().
EG_EXPORT("beginFunction")
double begin_function(double id, int argument_count, int name_length, int flags) {
  return guard<StackNeed::kToEnd>([&] {
    ReceivedValue function(id);
    const auto start = frame().begin() + argument_count;
    std::string name(start, start + name_length);
    const IntrusivePtr<JsFunctionNode> node = function.pass_to([&](double own) {
      return make_intrusive<JsFunctionNode>(std::move(name), own, (flags & 2) != 0);
    });
    function_nodes().set(JsRef::here(id), WeakPtr<Node>(node.get()));
    node->set_once_differentiable((flags & 1) != 0);
    node->begin_forward(read_tensors(argument_count));
    frame()[0] = node->has_tangents();
    return handles().insert(IntrusivePtr<Node>(node));
  });
}

// Sets the function that computes the tangents of the results; it is released by endFunction().
EG_EXPORT("setFunctionJvp")
double set_function_jvp(double id, double jvp) {
  return guard([&] {
    auto function =
        ReceivedValue(jvp).pass_to([](double own) { return std::make_unique<JsFunction>(own); });
    node_of(id)->set_jvp(std::move(function));
    return 0;
  });
}

// Ends forward. Frame: what forward returned; writes the results, -1 for a tensor that is returned
// unchanged.
EG_EXPORT("endFunction")
double end_function(double id, int output_count) {
  return guard([&] {
    const TensorList raw = read_tensors(output_count);
    const TensorList outputs = node_of(id)->end_forward(raw);
    NewHandles made(outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const bool is_given = outputs[i].defined() && outputs[i].is_same(raw[i]);
      frame()[i] = is_given ? -1 : made.add(return_tensor(outputs[i]));
    }
    made.keep();
    return outputs.size();
  });
}

EG_EXPORT("saveForBackward")
double save_for_backward(double id, int count) {
  return set_tensors(id, count, &CustomFunctionNode::save_for_backward);
}

EG_EXPORT("saveForForward")
double save_for_forward(double id, int count) {
  return set_tensors(id, count, &CustomFunctionNode::save_for_forward);
}

EG_EXPORT("markDirty")
double mark_dirty(double id, int count) {
  return set_tensors(id, count, &CustomFunctionNode::mark_dirty);
}

EG_EXPORT("markNonDifferentiable")
double mark_non_differentiable(double id, int count) {
  return set_tensors(id, count, &CustomFunctionNode::mark_non_differentiable);
}

EG_EXPORT("setMaterializeGrads")
double set_materialize_grads(double id, bool value) {
  return guard([&] {
    node_of(id)->set_materialize_grads(value);
    return 0;
  });
}

EG_EXPORT("savedTensors")
double saved_tensors(double id) {
  return guard([&] { return return_tensors(node_of(id)->saved_tensors()); });
}

EG_EXPORT("needsInputGrad")
double needs_input_grad(double id, int i) {
  return guard([&] { return node_of(id)->needs_input_grad(static_cast<std::size_t>(i)); });
}

}  // namespace eg::bindings
