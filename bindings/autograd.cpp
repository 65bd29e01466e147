// Autograd: backward calls, and the gradients and histories of tensors.

#include "autograd/autograd.h"

#include <chrono>
#include <deque>

#include <emscripten/bind.h>

#include "autograd/anomaly_mode.h"
#include "autograd/engine/async_call.h"
#include "autograd/engine/engine.h"
#include "autograd/graph/recorded_tensors.h"
#include "autograd/graph/variable.h"
#include "autograd/held_modes.h"
#include "base/warning.h"
#include "border.h"
#include "callbacks.h"
#include "dispatch/precision.h"
#include "runtime/background.h"
#include "runtime/inbox.h"
#include "words.h"

namespace eg::bindings {
namespace {

// Reads the options that backward() and grad() share from the flags.
void read_options(BackwardOptions& options, int flags) {
  if ((flags & kRetainGraphGiven) != 0) options.retain_graph = (flags & kRetainGraph) != 0;
  options.create_graph = (flags & kCreateGraph) != 0;
}

// Returns a tensor; if a recording is in progress, notes that it depends on the tensor's flags or
// history.
const Tensor& used_tensor(Handle handle) {
  const Tensor& t = handles().get(handle);
  if (Recording* const noted = recording()) noted->tensors->note_use(t);
  return t;
}

// Reads the frame from its start.
class FrameReader {
 public:
  // A target is two words: the handle of a tensor and -1, or the handle of a node and an output
  // index.
  GradTargetList targets(int count) {
    GradTargetList list = TensorList();
    for (int i = 0; i < count; ++i) {
      const Handle handle = frame()[next_++];
      const double position = frame()[next_++];
      if (position < 0) {
        list.emplace_back(used_tensor(handle));
      } else {
        const IntrusivePtr<Node> node = handles().get_node(handle);
        check(position < node->num_inputs(), ErrorCode::kInvalidArgument, "GradientEdge",
              node->name(), " has ", node->num_inputs(), " outputs, got outputNr ", position, '.');
        list.emplace_back(Edge{node, static_cast<std::uint32_t>(position)});
      }
    }
    return list;
  }

  // A handle of 0 becomes an undefined tensor.
  TensorList tensors(int count) {
    TensorList list;
    for (int i = 0; i < count; ++i) list.push_back(handles().get_optional(frame()[next_++]));
    return list;
  }

 private:
  std::size_t next_ = 0;
};

// A call of backward() or grad(), read from the frame so that it can run on any thread.
struct GraphCall {
  GradTargetList outputs = TensorList();
  TensorList gradients;
  std::optional<GradTargetList> inputs;
  GradOptions options;
  bool is_grad = false;
  AnomalySettings anomaly = {AnomalyMode::is_enabled(), AnomalyMode::should_check_nan()};

  GraphCall(int output_count, int input_count, int flags) {
    FrameReader reader;
    if (Recording* const noted = recording()) noted->tensors->note_backward();
    outputs = reader.targets(output_count);
    gradients = reader.tensors(output_count);
    if (input_count >= 0) inputs = reader.targets(input_count);
    read_options(options, flags);
    if ((flags & kAllowUnusedGiven) != 0) options.allow_unused = (flags & kAllowUnused) != 0;
    options.materialize_grads = (flags & kMaterializeGrads) != 0;
    options.is_grads_batched = (flags & kGradsBatched) != 0;
    is_grad = (flags & kCaptureGrads) != 0;
  }

  TensorList run() const {
    const AnomalyCallGuard in_mode(anomaly);
    if (is_grad) return grad(outputs, inputs.value(), gradients, options);
    backward(outputs, gradients, options, inputs);
    return {};
  }

  PiecewiseCall in_pieces() const {
    if (is_grad) return grad_in_pieces(outputs, inputs.value(), gradients, options);
    return backward_in_pieces(outputs, gradients, options, inputs);
  }
};

// The asynchronous calls that have not ended, by the functions that get their outcomes.
JsTable<std::weak_ptr<AsyncCall>>& async_calls() {
  static auto* const calls = new JsTable<std::weak_ptr<AsyncCall>>;
  return *calls;
}

// An asynchronous call in that table.
class AnsweredCall {
 public:
  explicit AnsweredCall(std::shared_ptr<JsFunction> answer)
      : answer_(std::move(answer)), call_(std::make_shared<AsyncCall>(answer_->id())) {
    async_calls().set(answer_->ref(), call_);
  }
  ~AnsweredCall() { async_calls().erase(answer_->ref()); }
  AnsweredCall(const AnsweredCall&) = delete;
  AnsweredCall& operator=(const AnsweredCall&) = delete;

  const std::shared_ptr<AsyncCall>& call() const { return call_; }

 private:
  std::shared_ptr<JsFunction> answer_;
  std::shared_ptr<AsyncCall> call_;
};

// The result of an asynchronous call.
struct Outcome {
  TensorList results;
  std::exception_ptr error;
  WarningCollector warnings;

  // Called on the thread that made the call: passes the result handles to `answer`, or stores the
  // error and passes kFailed.
  void report(const JsFunction& answer) {
    try {
      warnings.replay();
    } catch (...) {
      if (error == nullptr) error = std::current_exception();
    }
    Arguments handed;
    const double status = caught([&] {
      if (error != nullptr) std::rethrow_exception(error);
      for (const Tensor& result : results) handed.add(result);
      // From here on the call of `answer` needs no memory.
      frame(handed.size());
      return 0;
    });
    answer(status == kFailed ? Arguments{kFailed} : std::move(handed));
  }
};

#if EG_THREADS

// Runs the call on another thread, and calls `answer` with the outcome on this one.
void run_later(GraphCall&& graph_call, const std::shared_ptr<JsFunction>& answer) {
  const char* const caller_name = graph_call.is_grad ? "gradAsync" : "backwardAsync";
  auto call = std::make_shared<GraphCall>(std::move(graph_call));
  auto outcome = std::make_shared<Outcome>();
  // Reserved, because the outcome of a call that has filled the memory must be sent too.
  auto message = Inbox::reserve([answer, outcome] { outcome->report(*answer); });
  run_in_background(caller_name, [call = std::move(call), outcome = std::move(outcome),
                                  message = std::move(message), modes = HeldModes(),
                                  dtypes = dtype_modes(), caller = Inbox::current(),
                                  answered = std::make_shared<AnsweredCall>(answer)]() mutable {
    try {
      const AsyncCall::Scope apart(answered->call());
      const AutogradStateGuard state(modes.state());
      const DTypeModesGuard of_caller(dtypes);
      const WarningCollectorGuard collect(&outcome->warnings);
      outcome->results = call->run();
    } catch (...) {
      outcome->error = std::current_exception();
    }
    // Releases the operands before the caller is notified.
    call.reset();
    answered.reset();
    outcome.reset();
    caller->post(message);
    message.reset();
  });
}

bool run_waiting_calls(std::chrono::steady_clock::time_point) { return false; }

#else

// A call that runs in time slices, between which this thread's event loop continues.
class WaitingCall {
 public:
  WaitingCall(GraphCall&& call, std::shared_ptr<JsFunction> answer)
      : call_(std::move(call)),
        answer_(std::move(answer)),
        answered_(std::make_unique<AnsweredCall>(answer_)) {}

  // Returns true when the call has ended and `answer` has been called.
  bool run_until(std::chrono::steady_clock::time_point deadline) {
    Outcome outcome;
    try {
      const AsyncCall::Scope apart(answered_->call());
      const AutogradStateGuard state(modes_.state());
      const DTypeModesGuard of_caller(dtypes_);
      if (!pieces_.has_value()) pieces_ = call_->in_pieces();
      const AnomalyCallGuard in_mode(call_->anomaly);
      if (!pieces_->run_until(deadline)) return false;
      outcome.results = pieces_->take_result();
    } catch (...) {
      outcome.error = std::current_exception();
    }
    // Releases the operands before the caller is notified.
    pieces_.reset();
    call_.reset();
    outcome.report(*answer_);
    return true;
  }

 private:
  std::optional<GraphCall> call_;
  std::optional<PiecewiseCall> pieces_;
  std::shared_ptr<JsFunction> answer_;
  std::unique_ptr<AnsweredCall> answered_;
  HeldModes modes_;
  DTypeModes dtypes_ = dtype_modes();
};

// The oldest call runs first, to its end. Functions that it calls may add others.
std::deque<WaitingCall>& waiting_calls() {
  static auto* const calls = new std::deque<WaitingCall>;
  return *calls;
}

void run_later(GraphCall&& call, const std::shared_ptr<JsFunction>& answer) {
  waiting_calls().emplace_back(std::move(call), answer);
}

// Returns true if calls are left.
bool run_waiting_calls(std::chrono::steady_clock::time_point deadline) {
  std::deque<WaitingCall>& calls = waiting_calls();
  while (!calls.empty() && calls.front().run_until(deadline)) {
    calls.pop_front();
    if (std::chrono::steady_clock::now() >= deadline) break;
  }
  return !calls.empty();
}

#endif

std::string grad_fn_name(Handle handle) {
  std::string name;
  guard([&] {
    try {
      const IntrusivePtr<Node> node = grad_fn(handles().get(handle));
      if (node != nullptr) name = node->name();
    } catch (const Error&) {
      // The history of this view cannot be rebuilt. Reading the name must not throw for it.
      name = "Invalid";
    }
    return 0;
  });
  return name;
}

}  // namespace

// Runs backward(), or grad() with kCaptureGrads. Frame: targets, their gradients (0: implicit),
// inputs; `input_count` -1 means all leaves. A target or input is a tensor and -1, or a node and an
// output index. Returns the number of result handles, which are 0 for unused inputs.
EG_EXPORT("runGraph")
double run_graph(int output_count, int input_count, int flags) {
  return guard<StackNeed::kMuch>(
      [&] { return return_tensors(GraphCall(output_count, input_count, flags).run()); });
}

// Like runGraph, but on another thread or, without threads, in runPieces(). Calls the function `id`
// with the handles, or with kFailed.
EG_EXPORT("runGraphAsync")
double run_graph_async(int output_count, int input_count, int flags, double id) {
  return guard<StackNeed::kMuch>([&] {
    const auto answer = received<JsFunction>(id);
    refuse_in_recording("a backward call was to run later,", "Call backward().");
    run_later(GraphCall(output_count, input_count, flags), answer);
    return 0;
  });
}

// Ends the asynchronous call whose outcome the function `id` gets.
EG_EXPORT("cancelGraph")
double cancel_graph(double id) {
  return guard([&] {
    if (const auto call = async_calls().get(JsRef::here(id)).lock()) call->cancel();
    return 0;
  });
}

// Runs pending work of runGraphAsync() on this thread for about `milliseconds`; returns 1 if more
// is left, else 0.
EG_EXPORT("runPieces")
double run_pieces(double milliseconds) {
  using std::chrono::steady_clock;
  const std::chrono::duration<double, std::milli> length(milliseconds);
  return guard<StackNeed::kMuch>([&] {
    return run_waiting_calls(steady_clock::now() +
                             std::chrono::duration_cast<steady_clock::duration>(length));
  });
}

EG_EXPORT("setRequiresGrad")
double set_requires_grad_of(Handle handle, bool value) {
  return guard([&] {
    set_requires_grad(used_tensor(handle), value);
    return 0;
  });
}

// Returns a new handle, or 0. Also writes whether the gradient is sparse.
EG_EXPORT("grad")
double grad_of(Handle handle) {
  return guard([&] {
    const Tensor& t = handles().get(handle);
    if (Recording* const noted = recording()) noted->tensors->note_read(t);
    Tensor gradient = visible_grad(t);
    frame()[0] = gradient.defined() && gradient.is_sparse() ? 1 : 0;
    return return_tensor(std::move(gradient));
  });
}

EG_EXPORT("setGrad")
double set_grad_of(Handle handle, Handle value) {
  return guard([&] {
    set_grad(handles().get(handle), handles().get_optional(value));
    return 0;
  });
}

EG_EXPORT("base")
double base_of(Handle handle) {
  return guard([&] { return return_tensor(view_base(handles().get(handle))); });
}

// Like detach, but with a separate version counter.
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
    detach_in_place(used_tensor(handle));
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
  return guard([&] {
    const auto callback = received<JsFunction>(id);
    Engine::queue_callback([callback] { (*callback)(); });
    return 0;
  });
}

// Holds a value until the running backward call has ended, even if it fails.
EG_EXPORT("keepWithCall")
double keep_with_call(double id) {
  return guard([&] {
    Engine::keep_with_call(received<JsValue>(id));
    return 0;
  });
}

// Returns the number of the running backward call, or -1.
EG_EXPORT("graphTaskId")
double graph_task_id() { return static_cast<double>(Engine::current_graph_task_id()); }

// Returns 0 inside a backward call for given inputs, else 1.
EG_EXPORT("isCheckpointValid")
bool is_checkpoint_valid() {
  const NativeCall call(StackNeed::kNone);
  return Engine::is_checkpoint_valid();
}

EMSCRIPTEN_BINDINGS(autograd) { emscripten::function("eg_gradFnName", &grad_fn_name); }

}  // namespace eg::bindings
