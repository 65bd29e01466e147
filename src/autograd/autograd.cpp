#include "autograd/autograd.h"

#include <algorithm>

#include "autograd/engine/engine.h"
#include "autograd/graph/basic_nodes.h"
#include "autograd/graph/variable.h"
#include "autograd/tensor_math.h"
#include "base/error.h"

namespace eg {
namespace {

// noinline, so that preparing a call does not enlarge the frames of nested calls.

[[gnu::noinline]] EdgeList root_edges(const GradTargetList& tensors) {
  EdgeList edges;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Edge edge = tensors[i].is_edge() ? tensors[i].edge : gradient_edge(tensors[i].tensor);
    if (!edge.is_valid()) {
      fail(ErrorCode::kNoGradPath, "tensor ", i,
           " does not require a gradient. Compute it from tensors with requiresGrad, outside "
           "noGrad().");
    }
    edges.push_back(std::move(edge));
  }
  return edges;
}

const InputMetadata& metadata_of(const Edge& edge) {
  return edge.function->input_metadata(edge.input_nr);
}

Tensor implicit_gradient(const InputMetadata& output) {
  if (numel(output.shape) != 1) {
    fail(ErrorCode::kNonScalarBackward, "an output of shape ", output.shape,
         " needs a gradient: the default 1 is only for a single element. Reduce it first, for "
         "example "
         "with sum(), or pass a gradient.");
  }
  if (is_complex(output.dtype)) {
    fail(ErrorCode::kNonScalarBackward, "an output of dtype ", output.dtype,
         " needs a gradient: the default 1 is only for real outputs.");
  }
  return math::ones(output);
}

void check_shape(const Tensor& gradient, const InputMetadata& output, std::size_t i,
                 bool is_batched) {
  if (!is_batched) {
    if (gradient.shape() == output.shape) return;
    fail(ErrorCode::kShapeMismatch, "gradient ", i, " has shape ", gradient.shape(),
         ", but its output has shape ", output.shape, '.');
  }
  const Shape& shape = gradient.shape();
  if (!shape.empty() && Shape(shape.begin() + 1, shape.end()) == output.shape) return;
  fail(ErrorCode::kShapeMismatch, "with isGradsBatched: true, gradient ", i,
       " needs a batch dimension and then the shape of its "
       "output, ",
       output.shape, ", got ", gradient.shape(), '.');
}

void check_gradient(const Tensor& gradient, const InputMetadata& output, std::size_t i,
                    bool is_batched) {
  check_shape(gradient, output, i, is_batched);
  if (is_complex(gradient.dtype()) != is_complex(output.dtype)) {
    fail(ErrorCode::kDtypeMismatch, "gradient ", i, " has dtype ", gradient.dtype(),
         ", but its output has dtype ", output.dtype, ": either both or neither must be complex.");
  }
}

[[gnu::noinline]] GradList root_gradients(const EdgeList& roots, const TensorList& given,
                                          bool is_batched) {
  if (!given.empty() && given.size() != roots.size()) {
    fail(ErrorCode::kInvalidArgument, "got ", roots.size(), " tensors and ", given.size(),
         " gradients.");
  }
  GradList grads;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const InputMetadata& output = metadata_of(roots[i]);
    if (!given.empty() && given[i].defined()) {
      check_gradient(given[i], output, i, is_batched);
      grads.push_back(given[i]);
    } else {
      grads.push_back(implicit_gradient(output));
    }
  }
  return grads;
}

// No graph reaches an input without a live accumulator. It still needs a valid edge, because an
// invalid edge would match every other invalid edge.
[[gnu::noinline]] Edge input_edge(const GradTarget& target, bool is_backward) {
  if (target.edge.is_valid()) return target.edge;
  const Tensor& input = target.tensor;
  if (IntrusivePtr<Node> node = grad_fn(input)) {
    if (is_backward) retain_grad(input);
    return {std::move(node), output_nr(input)};
  }
  if (!requires_grad(input)) {
    fail(ErrorCode::kNoGradPath, is_backward ? "[backward] " : "[grad] ",
         "an input does not require a gradient. Set its requiresGrad before the outputs are "
         "computed.");
  }
  IntrusivePtr<Node> accumulator = try_grad_accumulator(input);
  if (accumulator == nullptr) accumulator = make_intrusive<Identity>();
  return {std::move(accumulator), 0};
}

TensorList to_list(const GradList& grads) { return TensorList(grads.begin(), grads.end()); }

// The arguments of one engine call.
struct EngineCall {
  EdgeList roots;
  GradList grads;
  bool keep_graph;
  bool create_graph;
  bool accumulate_grad;
  EdgeList outputs;

  EngineCall(EdgeList roots, GradList grads, const BackwardOptions& options, bool accumulate_grad)
      : roots(std::move(roots)),
        grads(std::move(grads)),
        keep_graph(options.retain_graph.value_or(options.create_graph)),
        create_graph(options.create_graph),
        accumulate_grad(accumulate_grad) {}

  GradList run() {
    return Engine::instance().execute(roots, std::move(grads), keep_graph, create_graph,
                                      accumulate_grad, outputs);
  }
  IntrusivePtr<GraphTask> begin_pieces() {
    return Engine::instance().begin_pieces(roots, std::move(grads), keep_graph, create_graph,
                                           accumulate_grad, outputs);
  }
};

[[gnu::noinline]] EngineCall backward_call(const GradTargetList& tensors,
                                           const TensorList& grad_tensors,
                                           const BackwardOptions& options,
                                           const std::optional<GradTargetList>& inputs) {
  check(!inputs.has_value() || !inputs->empty(), ErrorCode::kInvalidArgument, "backward",
        "inputs must not be empty.");
  EdgeList roots = root_edges(tensors);
  GradList grads = root_gradients(roots, grad_tensors, false);
  EngineCall call(std::move(roots), std::move(grads), options, true);
  if (inputs.has_value()) {
    for (const GradTarget& input : *inputs) call.outputs.push_back(input_edge(input, true));
  }
  return call;
}

[[gnu::noinline]] EngineCall grad_call(const GradTargetList& outputs, const GradTargetList& inputs,
                                       const TensorList& grad_outputs, const GradOptions& options) {
  check(!inputs.empty(), ErrorCode::kInvalidArgument, "grad", "inputs must not be empty.");
  check(!options.materialize_grads || options.allow_unused.value_or(true),
        ErrorCode::kInvalidArgument, "grad",
        "materializeGrads: true contradicts allowUnused: false.");
  EdgeList roots = root_edges(outputs);
  GradList grads = root_gradients(roots, grad_outputs, options.is_grads_batched);
  EngineCall call(std::move(roots), std::move(grads), options, false);
  for (const GradTarget& input : inputs) call.outputs.push_back(input_edge(input, false));
  return call;
}

// One engine call per element of the batch; the graph is kept until the last of them.
[[gnu::noinline]] TensorList batched_grad(const EngineCall& call, const TensorList& given) {
  std::vector<bool> is_given(call.roots.size());
  for (std::size_t i = 0; i < given.size(); ++i) is_given[i] = given[i].defined();
  const auto first = std::find(is_given.begin(), is_given.end(), true) - is_given.begin();
  check(static_cast<std::size_t>(first) < is_given.size(), ErrorCode::kInvalidArgument, "grad",
        "isGradsBatched: true needs at least one gradient in gradOutputs.");
  const GradList& grads = call.grads;
  const std::int64_t batch = grads[static_cast<std::size_t>(first)].size(0);
  check(batch > 0, ErrorCode::kInvalidArgument, "grad", "the batch of gradOutputs is empty.");
  std::vector<TensorList> columns(call.outputs.size());
  for (std::int64_t b = 0; b < batch; ++b) {
    EngineCall slice = call;
    for (std::size_t i = 0; i < grads.size(); ++i) {
      if (!is_given[i]) continue;
      check(grads[i].size(0) == batch, ErrorCode::kShapeMismatch, "grad",
            "gradOutputs have different batch sizes: ", batch, " and ", grads[i].size(0), '.');
      slice.grads[i] = math::select(grads[i], b);
    }
    slice.keep_graph = call.keep_graph || b + 1 < batch;
    const GradList row = slice.run();
    for (std::size_t i = 0; i < row.size(); ++i) columns[i].push_back(row[i]);
  }
  TensorList result;
  for (const TensorList& column : columns) {
    result.push_back(column[0].defined() ? math::stack(column) : Tensor());
  }
  return result;
}

void handle_unused(TensorList& grads, const GradTargetList& inputs, const GradOptions& options) {
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (grads[i].defined()) continue;
    if (options.materialize_grads) {
      check(!inputs[i].is_edge(), ErrorCode::kInvalidArgument, "grad",
            "materializeGrads: true does not support a gradient edge as an input.");
      grads[i] = math::zeros_like(inputs[i].tensor);
      set_requires_grad(grads[i], true);
    } else if (!options.allow_unused.value_or(false)) {
      fail(ErrorCode::kUnusedInput, "the outputs do not depend on input ", i,
           ". Pass allowUnused: true to get null for it.");
    }
  }
}

}  // namespace

Edge get_gradient_edge(const Tensor& t) {
  Edge edge = gradient_edge(t);
  check(edge.is_valid(), ErrorCode::kNoGradPath, "getGradientEdge",
        "the tensor does not require a gradient, so it has no gradient edge.");
  return edge;
}

void backward(const GradTargetList& tensors, const TensorList& grad_tensors,
              const BackwardOptions& options, const std::optional<GradTargetList>& inputs) {
  backward_call(tensors, grad_tensors, options, inputs).run();
}

TensorList grad(const GradTargetList& outputs, const GradTargetList& inputs,
                const TensorList& grad_outputs, const GradOptions& options) {
  EngineCall call = grad_call(outputs, inputs, grad_outputs, options);
  TensorList grads =
      options.is_grads_batched ? batched_grad(call, grad_outputs) : to_list(call.run());
  handle_unused(grads, inputs, options);
  return grads;
}

bool PiecewiseCall::run_until(std::chrono::steady_clock::time_point deadline) {
  return task_ == nullptr || Engine::instance().run_piece(task_, deadline);
}

TensorList PiecewiseCall::take_result() {
  return finish_(task_ == nullptr ? GradList() : task_->take_result());
}

PiecewiseCall backward_in_pieces(const GradTargetList& tensors, const TensorList& grad_tensors,
                                 const BackwardOptions& options,
                                 const std::optional<GradTargetList>& inputs) {
  return {backward_call(tensors, grad_tensors, options, inputs).begin_pieces(),
          [](const GradList&) { return TensorList(); }};
}

PiecewiseCall grad_in_pieces(const GradTargetList& outputs, const GradTargetList& inputs,
                             const TensorList& grad_outputs, const GradOptions& options) {
  if (options.is_grads_batched) {
    return {nullptr, [=](const GradList&) { return grad(outputs, inputs, grad_outputs, options); }};
  }
  return {grad_call(outputs, inputs, grad_outputs, options).begin_pieces(),
          [inputs, options](const GradList& row) {
            TensorList grads = to_list(row);
            handle_unused(grads, inputs, options);
            return grads;
          }};
}

}  // namespace eg
