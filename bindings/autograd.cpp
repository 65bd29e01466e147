// Autograd: gradients and modes.

#include "autograd/autograd.h"

#include <emscripten/bind.h>

#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/variable.h"
#include "border.h"
#include "callbacks.h"

namespace eg::bindings {
namespace {

enum BackwardFlags : int { kRetainGiven = 1, kRetain = 2, kCreateGraph = 4, kAllowUnused = 8 };

BackwardOptions options_from(int flags) {
  BackwardOptions options;
  if ((flags & kRetainGiven) != 0) options.retain_graph = (flags & kRetain) != 0;
  options.create_graph = (flags & kCreateGraph) != 0;
  return options;
}

// Tensors from `count` frame words on; 0 gives an undefined one.
TensorList read_tensors(std::size_t from, int count) {
  TensorList tensors;
  for (int i = 0; i < count; ++i) {
    tensors.push_back(handles().get_optional(frame()[from + static_cast<std::size_t>(i)]));
  }
  return tensors;
}

double run_backward(int count, int input_count, int flags) {
  return guard([&] {
    const auto roots = static_cast<std::size_t>(count);
    const TensorList tensors = read_tensors(0, count);
    const TensorList gradients = read_tensors(roots, count);
    std::optional<TensorList> inputs;
    if (input_count >= 0) inputs = read_tensors(2 * roots, input_count);
    backward(tensors, gradients, options_from(flags), inputs);
    return 0;
  });
}

double run_grad(int output_count, int input_count, int flags) {
  return guard([&] {
    const auto roots = static_cast<std::size_t>(output_count);
    const TensorList outputs = read_tensors(0, output_count);
    const TensorList gradients = read_tensors(roots, output_count);
    const TensorList inputs = read_tensors(2 * roots, input_count);
    const GradOptions options{options_from(flags), (flags & kAllowUnused) != 0};
    return return_tensors(grad(outputs, inputs, gradients, options));
  });
}

double set_requires_grad_of(Handle handle, bool value) {
  return guard([&] {
    set_requires_grad(handles().get(handle), value);
    return 0;
  });
}

double grad_of(Handle handle) {
  return guard([&] { return return_tensor(grad(handles().get(handle))); });
}

double set_grad_of(Handle handle, Handle value) {
  return guard([&] {
    set_grad(handles().get(handle), handles().get_optional(value));
    return 0;
  });
}

double base_of(Handle handle) {
  return guard([&] { return return_tensor(view_base(handles().get(handle))); });
}

double detached(Handle handle) {
  return guard([&] { return handles().insert(detach(handles().get(handle))); });
}

std::string grad_fn_name(Handle handle) {
  try {
    const IntrusivePtr<Node> node = grad_fn(handles().get(handle));
    return node == nullptr ? "" : node->name();
  } catch (const Error&) {
    // A view whose history cannot be made again; asking for its name is not the place to complain.
    return "Invalid";
  }
}

double retain_grad_of(Handle handle) {
  return guard([&] {
    retain_grad(handles().get(handle));
    return 0;
  });
}

double queue_callback(double id) {
  const auto callback = std::make_shared<JsFunction>(id);
  return guard([&] {
    Engine::instance().queue_callback([callback] { (*callback)(); });
    return 0;
  });
}

double graph_task_id() { return static_cast<double>(Engine::current_graph_task_id()); }

int graph_task_depth() {
  const GraphTask* task = GraphTask::current();
  return task == nullptr ? -1 : task->reentrant_depth;
}

bool grad_enabled() { return is_grad_enabled(); }
void set_grad_enabled(bool enabled) { autograd_state().grad_mode = enabled; }

}  // namespace

EMSCRIPTEN_BINDINGS(autograd) {
  emscripten::function("backward", &run_backward);
  emscripten::function("autogradGrad", &run_grad);
  emscripten::function("setRequiresGrad", &set_requires_grad_of);
  emscripten::function("grad", &grad_of);
  emscripten::function("setGrad", &set_grad_of);
  emscripten::function("base", &base_of);
  emscripten::function("detach", &detached);
  emscripten::function("gradFnName", &grad_fn_name);
  emscripten::function("retainGrad", &retain_grad_of);
  emscripten::function("queueCallback", &queue_callback);
  emscripten::function("graphTaskId", &graph_task_id);
  emscripten::function("graphTaskDepth", &graph_task_depth);
  emscripten::function("isGradEnabled", &grad_enabled);
  emscripten::function("setGradEnabled", &set_grad_enabled);
}

}  // namespace eg::bindings
