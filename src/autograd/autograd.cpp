#include "autograd/autograd.h"

#include "autograd/basic_nodes.h"
#include "autograd/engine.h"
#include "autograd/tensor_math.h"
#include "autograd/variable.h"
#include "base/error.h"

namespace eg {
namespace {

EdgeList root_edges(const TensorList& tensors) {
  EdgeList edges;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Edge edge = gradient_edge(tensors[i]);
    if (!edge.is_valid()) {
      fail(ErrorCode::kNoGradPath, "element ", i,
           " of tensors does not require grad and does not have a grad_fn. Create it from tensors "
           "with requiresGrad, outside noGrad().");
    }
    edges.push_back(std::move(edge));
  }
  return edges;
}

Tensor implicit_gradient(const Tensor& output) {
  if (output.numel() != 1) {
    fail(ErrorCode::kNonScalarBackward,
         "grad can be implicitly created only for scalar outputs, got shape ", output.shape(),
         ". Reduce it first, for example with sum(), or pass a gradient.");
  }
  if (is_complex(output.dtype())) {
    fail(ErrorCode::kNonScalarBackward,
         "grad can be implicitly created only for real scalar outputs but got ", output.dtype(),
         '.');
  }
  return math::ones_like(output);
}

void check_gradient(const Tensor& gradient, const Tensor& output, std::size_t i) {
  if (gradient.shape() != output.shape()) {
    fail(ErrorCode::kShapeMismatch, "Mismatch in shape: grad_output[", i, "] has a shape of ",
         gradient.shape(), " and output[", i, "] has a shape of ", output.shape(), '.');
  }
  if (is_complex(gradient.dtype()) != is_complex(output.dtype())) {
    fail(ErrorCode::kDtypeMismatch,
         "For complex Tensors, both grad_output and output are required to have the same dtype. "
         "Mismatch in dtype: grad_output[",
         i, "] has a dtype of ", gradient.dtype(), " and output[", i, "] has a dtype of ",
         output.dtype(), '.');
  }
}

GradList root_gradients(const TensorList& tensors, const TensorList& given) {
  if (!given.empty() && given.size() != tensors.size()) {
    fail(ErrorCode::kInvalidArgument, "got ", tensors.size(), " tensors and ", given.size(),
         " gradients.");
  }
  GradList grads;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!given.empty() && given[i].defined()) {
      check_gradient(given[i], tensors[i], i);
      grads.push_back(given[i]);
    } else {
      grads.push_back(implicit_gradient(tensors[i]));
    }
  }
  return grads;
}

// An input without a live accumulator cannot be reached by any graph. It needs an edge all the
// same, because an edge to nothing would match every edge to nothing.
Edge input_edge(const Tensor& input, bool is_backward) {
  if (IntrusivePtr<Node> node = grad_fn(input)) return {std::move(node), output_nr(input)};
  if (!requires_grad(input)) {
    fail(ErrorCode::kNoGradPath, is_backward ? "[backward] " : "[grad] ",
         "One of the differentiated Tensors does not require grad and does not have a grad_fn.");
  }
  IntrusivePtr<Node> accumulator = try_grad_accumulator(input);
  if (accumulator == nullptr) accumulator = make_intrusive<Identity>();
  return {std::move(accumulator), 0};
}

}  // namespace

void backward(const TensorList& tensors, const TensorList& grad_tensors,
              const BackwardOptions& options, const std::optional<TensorList>& inputs) {
  check(!inputs.has_value() || !inputs->empty(), ErrorCode::kInvalidArgument, "backward",
        "`inputs` argument to `backward()` cannot be empty.");
  const EdgeList roots = root_edges(tensors);
  EdgeList outputs;
  if (inputs.has_value()) {
    for (const Tensor& input : *inputs) outputs.push_back(input_edge(input, true));
  }
  Engine::instance().execute(roots, root_gradients(tensors, grad_tensors),
                             options.retain_graph.value_or(options.create_graph),
                             options.create_graph, true, outputs);
}

TensorList grad(const TensorList& outputs, const TensorList& inputs, const TensorList& grad_outputs,
                const GradOptions& options) {
  check(!inputs.empty(), ErrorCode::kInvalidArgument, "grad", "grad requires non-empty inputs.");
  const EdgeList roots = root_edges(outputs);
  EdgeList edges;
  for (const Tensor& input : inputs) edges.push_back(input_edge(input, false));
  const GradList grads = Engine::instance().execute(
      roots, root_gradients(outputs, grad_outputs),
      options.retain_graph.value_or(options.create_graph), options.create_graph, false, edges);
  for (const Tensor& grad : grads) {
    if (!grad.defined() && !options.allow_unused) {
      fail(ErrorCode::kUnusedInput,
           "One of the differentiated Tensors appears to not have been used in the graph. Set "
           "allow_unused=True if this is the desired behavior. (In JavaScript: {allowUnused: "
           "true}.)");
    }
  }
  return TensorList(grads.begin(), grads.end());
}

}  // namespace eg
