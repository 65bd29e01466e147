// Autograd: gradients and histories of tensors.

#include "autograd/autograd.h"

#include <emscripten/bind.h>

#include "autograd/engine.h"
#include "autograd/variable.h"
#include "base/warning.h"
#include "border.h"
#include "callbacks.h"
#include "runtime/background.h"
#include "runtime/inbox.h"

namespace eg::bindings {
namespace {

enum BackwardFlags : int {
  kRetainGiven = 1,
  kRetain = 2,
  kCreateGraph = 4,
  kAllowUnusedGiven = 8,
  kAllowUnused = 16,
  kMaterialize = 32,
  kBatched = 64,
  kCaptureGrads = 128,
};

// Options of both entry points, from their flags.
void read_options(BackwardOptions& options, int flags) {
  if ((flags & kRetainGiven) != 0) options.retain_graph = (flags & kRetain) != 0;
  options.create_graph = (flags & kCreateGraph) != 0;
}

// Reads the frame from its start on.
class FrameReader {
 public:
  // A target is two words: the handle of a tensor and -1, or that of a node and a position.
  GradTargetList targets(int count) {
    GradTargetList list = TensorList();
    for (int i = 0; i < count; ++i) {
      const Handle handle = frame()[next_++];
      const double position = frame()[next_++];
      if (position < 0) {
        list.emplace_back(handles().get(handle));
      } else {
        const IntrusivePtr<Node> node = handles().get_node(handle);
        check(position < node->num_inputs(), ErrorCode::kInvalidArgument, "GradientEdge",
              node->name(), " has ", node->num_inputs(), " outputs, got outputNr ", position, '.');
        list.emplace_back(Edge{node, static_cast<std::uint32_t>(position)});
      }
    }
    return list;
  }

  // 0 gives an undefined tensor.
  TensorList tensors(int count) {
    TensorList list;
    for (int i = 0; i < count; ++i) list.push_back(handles().get_optional(frame()[next_++]));
    return list;
  }

 private:
  std::size_t next_ = 0;
};

// A call of backward() or grad(), read from the frame and ready to run on any thread.
struct GraphCall {
  GradTargetList outputs = TensorList();
  TensorList gradients;
  std::optional<GradTargetList> inputs;
  GradOptions options;
  bool is_grad = false;

  GraphCall(int output_count, int input_count, int flags) {
    FrameReader reader;
    outputs = reader.targets(output_count);
    gradients = reader.tensors(output_count);
    if (input_count >= 0) inputs = reader.targets(input_count);
    read_options(options, flags);
    if ((flags & kAllowUnusedGiven) != 0) options.allow_unused = (flags & kAllowUnused) != 0;
    options.materialize_grads = (flags & kMaterialize) != 0;
    options.is_grads_batched = (flags & kBatched) != 0;
    is_grad = (flags & kCaptureGrads) != 0;
  }

  TensorList run() const {
    if (is_grad) return grad(outputs, inputs.value(), gradients, options);
    backward(outputs, gradients, options, inputs);
    return {};
  }
};

// What came of a call that ran on another thread.
struct Outcome {
  TensorList results;
  std::exception_ptr error;
  WarningCollector warnings;

  // On the thread that made the call: tells `answer` handles, or kFailed with an error to take.
  void report(const JsFunction& answer) {
    warnings.replay();
    const double count = guard([&] {
      if (error != nullptr) std::rethrow_exception(error);
      return return_tensors(results);
    });
    if (count < 0) {
      answer({kFailed});
      return;
    }
    const auto end = frame().begin() + static_cast<std::ptrdiff_t>(count);
    answer(Words(frame().begin(), end));
  }
};

// Writes the address of a gradient, by which JavaScript recognises one that it knows.
void write_address(const Tensor& t) {
  frame()[0] = static_cast<double>(reinterpret_cast<std::uintptr_t>(t.impl()));
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

}  // namespace

EG_EXPORT("runGraph")
double run_graph(int output_count, int input_count, int flags) {
  return guard([&] { return return_tensors(GraphCall(output_count, input_count, flags).run()); });
}

// Runs the call on another thread; `id` is the function that is told the outcome, on this one.
EG_EXPORT("runGraphAsync")
double run_graph_async(int output_count, int input_count, int flags, double id) {
  const auto answer = std::make_shared<JsFunction>(id);
  return guard([&] {
    auto call = std::make_shared<GraphCall>(output_count, input_count, flags);
    run_in_background([answer, call = std::move(call), state = autograd_state(),
                       caller = Inbox::current()]() mutable {
      const auto outcome = std::make_shared<Outcome>();
      try {
        const AutogradStateGuard modes(state);
        const WarningCollectorGuard collect(&outcome->warnings);
        outcome->results = call->run();
      } catch (...) {
        outcome->error = std::current_exception();
      }
      // The operands are free when the caller hears of the outcome.
      call.reset();
      caller->post([answer = std::move(answer), outcome] { outcome->report(*answer); });
    });
    return 0;
  });
}

EG_EXPORT("setRequiresGrad")
double set_requires_grad_of(Handle handle, bool value) {
  return guard([&] {
    set_requires_grad(handles().get(handle), value);
    return 0;
  });
}

EG_EXPORT("grad")
double grad_of(Handle handle) {
  return guard([&] {
    const Tensor value = grad(handles().get(handle));
    write_address(value);
    return return_tensor(value);
  });
}

EG_EXPORT("setGrad")
double set_grad_of(Handle handle, Handle value) {
  return guard([&] {
    const Tensor gradient = handles().get_optional(value);
    set_grad(handles().get(handle), gradient);
    write_address(gradient);
    return 0;
  });
}

EG_EXPORT("base")
double base_of(Handle handle) {
  return guard([&] { return return_tensor(view_base(handles().get(handle))); });
}

EG_EXPORT("data")
double data_of(Handle handle) {
  return guard([&] { return handles().insert(variable_data(handles().get(handle))); });
}

EG_EXPORT("detach")
double detached(Handle handle) {
  return guard([&] { return handles().insert(detach(handles().get(handle))); });
}

EG_EXPORT("detachInPlace")
double detach_itself(Handle handle) {
  return guard([&] {
    detach_in_place(handles().get(handle));
    return 0;
  });
}

EG_EXPORT("retainGrad")
double retain_grad_of(Handle handle) {
  return guard([&] {
    retain_grad(handles().get(handle));
    return 0;
  });
}

EG_EXPORT("queueCallback")
double queue_callback(double id) {
  const auto callback = std::make_shared<JsFunction>(id);
  return guard([&] {
    Engine::queue_callback([callback] { (*callback)(); });
    return 0;
  });
}

EG_EXPORT("graphTaskId")
double graph_task_id() { return static_cast<double>(Engine::current_graph_task_id()); }

EG_EXPORT("graphTaskDepth")
int graph_task_depth() {
  const GraphTask* task = GraphTask::current();
  return task == nullptr ? -1 : task->reentrant_depth;
}

EMSCRIPTEN_BINDINGS(autograd) { emscripten::function("eg_gradFnName", &grad_fn_name); }

}  // namespace eg::bindings
