// compile: engine

#include "autograd/engine/engine.h"
#include "autograd/tensor_math.h"
#include "base/error.h"

namespace eg {
namespace {

bool fits(const Tensor& grad, const InputMetadata& expected) {
  return grad.dtype() == expected.dtype && grad.shape() == expected.shape &&
         grad.device() == expected.device;
}

bool fits(const Tensor& grad, const Edge& edge, const InputMetadata& expected) {
  if (grad.is_sparse() && !edge.function->takes_sparse_gradients()) [[unlikely]]
    return false;
  return fits(grad, expected);
}

std::string gradient_name(std::size_t index, const Node* fn) {
  return fn == nullptr ? join_text("gradient ", index)
                       : join_text("gradient ", index, " returned by ", fn->name());
}

Tensor fit(Tensor grad, const InputMetadata& expected, std::size_t index, const Node* fn) {
  if (grad.is_sparse()) grad = math::to_dense(grad);
  if (grad.shape() != expected.shape) {
    if (!is_expandable_to(expected.shape, grad.shape())) {
      fail(ErrorCode::kInvalidGradient, gradient_name(index, fn), " has shape ", grad.shape(),
           ", expected ", expected.shape, " or a shape broadcast from it.");
    }
    grad = math::sum_to(grad, expected.shape);
  }
  if (grad.dtype() != expected.dtype) {
    if (is_complex(grad.dtype()) && !is_complex(expected.dtype)) {
      fail(ErrorCode::kInvalidGradient, gradient_name(index, fn), " has dtype ", grad.dtype(),
           ", expected ", expected.dtype, '.');
    }
    grad = math::cast(grad, expected.dtype);
  }
  if (!(grad.device() == expected.device)) {
    if (grad.ndim() != 0) {
      fail(ErrorCode::kInvalidGradient, gradient_name(index, fn), " is on ", grad.device(),
           ", expected ", expected.device, '.');
    }
    grad = math::to_device(grad, expected.device);
  }
  return grad;
}

}  // namespace

void validate_outputs(const EdgeList& edges, GradList& grads, const Node* fn) {
  if (grads.size() != edges.size()) {
    fail(ErrorCode::kInvalidGradient, fn == nullptr ? std::string("the call") : fn->name(),
         " returned ", grads.size(), " gradients, expected ", edges.size(), '.');
  }
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (!edges[i].is_valid() || !grads[i].defined()) continue;
    const InputMetadata& expected = edges[i].function->input_metadata(edges[i].input_nr);
    if (!fits(grads[i], edges[i], expected)) grads[i] = fit(std::move(grads[i]), expected, i, fn);
  }
}

}  // namespace eg
